// What the six procedures of oRPC's suite return, and their schema.

/** A Standard Schema that accepts everything: what a validator costs is not measured. REST reads `who` from the query. */
export const accepted = {
  '~standard': {
    version: 1,
    vendor: 'bench',
    validate: (value: unknown) => ({ value }),
    jsonSchema: {
      input: () => ({ type: 'object', properties: { who: { type: 'string' } } }),
      output: () => ({}),
    },
  },
} as const;

/** The result of the procedure with this name. */
export const resultOf = (name: string, input: unknown) => ({ name, date: new Date(), input });
