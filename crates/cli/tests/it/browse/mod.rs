//! The store as a person sees it: `ls`, `list`, `show` and `sessions`, and the manual.

mod help;
mod lists;
mod pages;
