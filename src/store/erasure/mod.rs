pub(crate) mod delete;
