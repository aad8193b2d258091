//! The Model Context Protocol: a store as tools, resources and prompts.
