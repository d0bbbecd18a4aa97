import { appRouter, PetId, type PetStatus } from '@petstore/core';
import { z } from 'zod';

const inputOf = ({ _def }: { readonly _def: object }) =>
  (_def as { readonly inputs: readonly [z.ZodType] }).inputs[0];

export interface ListInputs {
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly cursor?: number | undefined;
}

/** The pet store's own schemas. Schemas that are not exported are read from its procedures, so every contender validates the same. */
export const ListInput = inputOf(appRouter.listPets) as z.ZodType<
  ListInputs,
  Partial<ListInputs> | undefined
>;
export const GetInput = inputOf(appRouter.getPet) as z.ZodType<{ petId: number }>;

/** An integer's text, converted strictly, as the gateway converts it. */
const integerText = z
  .string()
  .regex(/^-?\d+$/)
  .transform(Number);

/** The same inputs where a framework validates the texts of a path or a query. */
export const GetTexts = z.object({ petId: integerText.pipe(PetId) });
export const ListTexts = z
  .object({ limit: integerText.optional(), status: z.string().optional(), cursor: integerText.optional() })
  .pipe(ListInput as z.ZodType<ListInputs, object>);
