import { createTRPCClient, httpLink } from '@trpc/client';
import { expectTypeOf, test } from 'vitest';
import type { components, paths } from './generated/openapi.ts';
import type { Animal, ApiError, AppRouter, NewPet, Pets, PetStatus, RouterInputs } from './index.ts';

const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: 'http://127.0.0.1/trpc' })] });

test('the entities have the fields of docs/interface.md#resources-and-their-fields', () => {
  expectTypeOf<PetStatus>().toEqualTypeOf<'available' | 'pending' | 'sold'>();
  // Further fields are optional (docs/decisions.md#growth): these objects stay complete.
  type NewPetFields = { name: string; categoryId: number; status?: PetStatus | undefined };
  type AnimalFields = { id: number; name: string; categoryId: number; status?: PetStatus };
  expectTypeOf<Pick<NewPet, keyof NewPetFields>>().toEqualTypeOf<NewPetFields>();
  expectTypeOf<NewPetFields>().toExtend<NewPet>();
  expectTypeOf<Pick<Animal, keyof AnimalFields>>().toEqualTypeOf<AnimalFields>();
  expectTypeOf<AnimalFields>().toExtend<Animal>();
  expectTypeOf<Pets>().toEqualTypeOf<Animal[]>();
  expectTypeOf<ApiError>().toEqualTypeOf<{ code: string; message: string; status: number }>();
});

test('the types of the OpenAPI document equal the types of the router', () => {
  expectTypeOf<components['schemas']['Animal']>().toEqualTypeOf<Animal>();
  expectTypeOf<components['schemas']['PetStatus']>().toEqualTypeOf<PetStatus>();
  expectTypeOf<components['schemas']['Error']>().toEqualTypeOf<ApiError>();
  expectTypeOf<components['schemas']['NewPet']>().toExtend<NewPet>();
  type Page = paths['/pets']['get']['responses'][200]['content']['application/json'];
  expectTypeOf<Page>().toEqualTypeOf<Pets>();
  type Query = NonNullable<paths['/pets']['get']['parameters']['query']>;
  expectTypeOf<Query>().toExtend<NonNullable<RouterInputs['listPets']>>();
});

test('an input may be omitted only if all its fields are optional', () => {
  expectTypeOf(client.listPets.query).toBeCallableWith();
  expectTypeOf(client.createPet.mutate).parameter(0).toEqualTypeOf<NewPet>();
});
