//! Other doors to the same store: servers, the memory tool and models.

mod agents;
#[cfg(target_os = "linux")]
mod crowded;
#[cfg(unix)]
mod inspector;
#[cfg(unix)]
mod floods;
#[cfg(unix)]
mod load;
mod hook;
mod integrations;
pub(crate) mod mcp;
#[cfg(unix)]
mod mcp_inspector;
#[cfg(unix)]
mod models;
#[cfg(unix)]
pub(crate) mod serve;
mod tool;
