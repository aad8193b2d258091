//! The simulated disk: what a store writes to, and what a crash leaves of it.
//!
//! It logs each operation, so a campaign can stop the machine after any of them. It knows nothing
//! of stores.

pub(crate) mod op;
pub(crate) mod image;
pub(crate) mod fault;
pub(crate) mod sim_disk;
pub(crate) mod machine;
pub(crate) mod process_disk;
pub(crate) mod second_directory;
pub(crate) mod disk_state;
