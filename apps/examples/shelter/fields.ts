import { z } from 'zod';

/** The id of a record. */
export const Id = z.int().min(1);

/** Text that every store keeps unchanged. Lone surrogates are rejected, because UTF-8 cannot encode them. */
export const Text = z
  .string()
  .min(1)
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode, without lone surrogates');

/** The version of a record: starts at 1 and is incremented by each change. */
export const Version = z
  .int()
  .min(1)
  .meta({ description: 'Starts at 1 and is incremented by each change. Set by the service.' });
