export default { test: { include: ["checkpointer.mjs"], globals: true } };
