//! Questions against a scan of everything there is: whatever happened to a store and whatever is
//! asked of it, its answers are those of reading every grain.

mod bitemporal;
mod expiry;
mod explained;
mod own_statistics;
mod pages;
mod plan;
mod scan;
mod ties;
mod world;
