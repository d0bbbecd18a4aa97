/** The request header that selects JSON lines. */
export const lines = { 'trpc-accept': 'application/jsonl' };
