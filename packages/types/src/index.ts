/**
 * The pet store's types, for who calls it. Nothing here runs.
 *
 * @packageDocumentation
 */
export type {
  Animal,
  ApiError,
  AppRouter,
  NewPet,
  Pets,
  PetStatus,
  RouterInputs,
  RouterOutputs,
} from './generated/router.ts';
