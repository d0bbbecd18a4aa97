/**
 * The pet store's types for clients. The package has no run-time code.
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
