// Generated from the router by trpc-gateway-typegen. Do not edit.

import type { TRPCQueryProcedure, TRPCMutationProcedure, inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { BuiltRouter as TRPCBuiltRouter, DefaultErrorShape as TRPCDefaultErrorShape } from '@trpc/server/unstable-core-do-not-import';

/** The type of the router, for clients: `createTRPCClient<AppRouter>`. */
export type AppRouter = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: TRPCDefaultErrorShape; transformer: false },
  {
    /** Animals in ascending order of id, optionally filtered by status. For the next page, pass the id of the last animal as `cursor`. */
    listPets: QueryProcedure<{
      /** Maximum number of animals returned. */
      limit?: number | undefined;
      /** Only animals with this status. */
      status?: PetStatus | undefined;
      /** Only animals with a greater id. */
      cursor?: number | undefined;
    } | undefined, Pets>;
    /** Adds an animal. The service assigns its id. */
    createPet: MutationProcedure<NewPet, Animal>;
    /**
     * One animal by its identifier. Use the list of animals with the `status` filter instead.
     * @deprecated Since 2026-11-20, until 2030-12-05. Use listPets.
     */
    getPet: QueryProcedure<{
      /** Identifier of the animal. */
      petId: number;
    }, Animal>;
  }
>;

/** The inputs of the procedures, by name. */
export type RouterInputs = inferRouterInputs<AppRouter>;

/** The outputs of the procedures, by name. */
export type RouterOutputs = inferRouterOutputs<AppRouter>;

/** Availability status. */
export type PetStatus = 'available' | 'pending' | 'sold';

/** Animals in ascending order of id. */
export type Pets = Animal[];

/** An animal that is or was available for adoption. */
export type Animal = {
  /** Assigned by the service on creation. */
  id: number;
  /** The animal's name. */
  name: string;
  /** Identifier of the category the animal belongs to. */
  categoryId: number;
  /** Availability status. */
  status?: PetStatus;
};

/** An animal to add. The service assigns its id. */
export type NewPet = {
  /** The animal's name. */
  name: string;
  /** Identifier of the category the animal belongs to. */
  categoryId: number;
  /** Availability status. */
  status?: PetStatus | undefined;
};

/** What went wrong. */
export type ApiError = {
  /** Machine-readable error code. */
  code: string;
  /** Human-readable description. */
  message: string;
  /** The HTTP status code. */
  status: number;
};

type QueryProcedure<Input, Output> = TRPCQueryProcedure<{ input: Input; output: Output; meta: object; errorShape: unknown }>;
type MutationProcedure<Input, Output> = TRPCMutationProcedure<{ input: Input; output: Output; meta: object; errorShape: unknown }>;
