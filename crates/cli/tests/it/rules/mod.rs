//! Who may do what: policy, trust, signatures, keys and the trail.

mod access;
mod audit;
mod doors;
mod keys;
mod protection;
mod regimes;
mod signing;
mod trust;
mod vault;
