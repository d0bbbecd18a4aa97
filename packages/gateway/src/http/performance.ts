/** The clock. In Node the global is a getter, and each reading of it costs 50 ns. */
export const { performance } = globalThis;
