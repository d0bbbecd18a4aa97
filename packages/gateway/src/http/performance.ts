/** The global `performance`, read once: in Node the global is a getter, and each read of it costs 50 ns. */
export const { performance } = globalThis;
