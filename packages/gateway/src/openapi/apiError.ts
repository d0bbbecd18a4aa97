import { z } from 'zod';

/** The body of every REST error by default: `pet-store-interface.md`, "Error". */
export const ApiError = z
  .object({
    code: z.string().meta({ description: 'Machine-readable error code.', examples: ['NOT_FOUND'] }),
    message: z.string().meta({ description: 'Human-readable description.' }),
    status: z.int().min(400).max(599).meta({ description: 'The HTTP status code.' }),
  })
  .meta({ id: 'Error', description: 'What went wrong.' });
export type ApiError = z.output<typeof ApiError>;
