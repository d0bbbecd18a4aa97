import { jsonText, type Outcome } from 'trpc-gateway-test';
import type { Procedure } from './petCalls.ts';

/**
 * A model of docs/interface.md#endpoints and docs/decisions.md#http-behaviour-of-the-pet-store that does not use the service's
 * schemas. It finds errors that REST and tRPC share, and errors that an earlier call causes.
 */
export interface PetContract {
  /** Returns the expected outcome of a call; later calls see an animal that it creates. */
  outcome(procedure: Procedure, input: unknown): Outcome;
}

type Members = Readonly<Record<string, unknown>>;
type Animal = { readonly id: number; readonly status?: unknown };

const badRequest: Outcome = { code: 'BAD_REQUEST', status: 400 };
const notFound: Outcome = { code: 'NOT_FOUND', status: 404 };

/** Creates a contract of an empty pet store. */
export function petContract(): PetContract {
  const animals: Animal[] = [];
  return {
    outcome(procedure, input) {
      const members = procedure === 'listPets' && input === undefined ? {} : input;
      if (!isObject(members)) return badRequest;
      switch (procedure) {
        case 'createPet':
          return create(members);
        case 'listPets':
          return list(members);
        default:
          return get(members);
      }
    },
  };

  function create({ name, categoryId, status }: Members): Outcome {
    if (typeof name !== 'string' || !name.isWellFormed() || Array.from(name).length > 1000) return badRequest;
    if (!Number.isSafeInteger(categoryId) || !isStatus(status)) return badRequest;
    const fields = { name, categoryId, ...(status !== undefined && { status }) };
    animals.push({ id: animals.length + 1, ...fields });
    return response(animals.at(-1));
  }

  function list({ limit = 20, status, cursor = Number.MIN_SAFE_INTEGER }: Members): Outcome {
    if (!isSafeInteger(limit) || limit < 1 || limit > 100) return badRequest;
    if (!isSafeInteger(cursor) || !isStatus(status)) return badRequest;
    return response(
      animals
        .filter((animal) => animal.id > cursor && (status === undefined || animal.status === status))
        .slice(0, limit),
    );
  }

  function get({ petId }: Members): Outcome {
    if (typeof petId !== 'number' || !Number.isInteger(petId)) return badRequest;
    if (petId < -(2 ** 63) || petId >= 2 ** 63) return badRequest;
    const animal = animals.find(({ id }) => id === petId);
    return animal === undefined ? notFound : response(animal);
  }
}

/** Returns a successful outcome as it arrives: after one round trip through JSON, which turns `-0` into `0`. */
const response = (data: unknown): Outcome => ({ data: jsonText(JSON.parse(JSON.stringify(data))) });

const isSafeInteger = (value: unknown): value is number => Number.isSafeInteger(value);

const isStatus = (value: unknown) =>
  value === undefined || value === 'available' || value === 'pending' || value === 'sold';

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
