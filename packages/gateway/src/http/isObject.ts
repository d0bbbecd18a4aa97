/** Whether a value is an object other than an array, as tRPC's own check. */
export const isObject = (value: unknown): value is Record<PropertyKey, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
