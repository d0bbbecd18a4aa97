/**
 * The pet store's types, for who calls it. Nothing here runs.
 *
 * @packageDocumentation
 */
import type { AppRouter } from '@petstore/core';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';

export type { Animal, ApiError, AppRouter, NewPet, Pets, PetStatus } from '@petstore/core';

/** What each procedure takes, by its name. */
export type RouterInputs = inferRouterInputs<AppRouter>;

/** What each procedure gives, by its name. */
export type RouterOutputs = inferRouterOutputs<AppRouter>;
