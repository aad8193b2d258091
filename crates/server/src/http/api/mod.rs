//! The routes: what each answers. The documents that they take are in `request`.

pub(crate) mod aimem;
pub(crate) mod cal;
mod confine;
pub(crate) mod feed;
pub(crate) mod files;
pub(crate) mod grains;
pub(crate) mod groups;
pub(crate) mod inspect;
pub(crate) mod operator;
pub(crate) mod people;
pub(crate) mod questions;
pub(crate) mod request;
