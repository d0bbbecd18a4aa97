import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sharedShelter, statusOf, stores } from './testing/newShelter.ts';

describe.each(stores)('categories on the %s store', (store) => {
  const shelter = sharedShelter(store);

  const add = () => shelter.client.createCategory.mutate({ name: `Dogs ${randomUUID()}` });
  const conflict = (message: string) => ({
    status: 409,
    body: { code: 'CONFLICT', message, status: 409 },
  });

  test('a category with the name of another one is rejected with 409', async () => {
    const { name } = await add();
    expect(await shelter.rest('POST', '/categories', { name })).toMatchObject({ status: 409 });
  });

  test('creating or moving an animal with an unknown categoryId gets 409', async () => {
    const missing = conflict('categoryId: there is no category with this id.');
    const rex = { name: 'Rex', categoryId: 1_000_000 };
    expect(await shelter.rest('POST', '/animals', rex)).toMatchObject(missing);
    expect(await statusOf(shelter.client.createAnimal.mutate(rex))).toBe(409);
    const animal = await shelter.client.createAnimal.mutate({ ...rex, categoryId: (await add()).id });
    expect(await shelter.rest('PATCH', `/animals/${animal.id}`, rex)).toMatchObject(missing);
    expect((await shelter.rest('GET', `/animals/${animal.id}`)).body).toEqual(animal);
  });

  test('deleting a category with animals gets 409, over both protocols', async () => {
    const [from, to] = [await add(), await add()];
    const animal = await shelter.client.createAnimal.mutate({ name: 'Rex', categoryId: from.id });
    const remove = (categoryId: number) => shelter.client.deleteCategory.mutate({ categoryId });
    const path = `/categories/${from.id}`;
    expect(await shelter.rest('DELETE', path)).toMatchObject(conflict('The category still has animals.'));
    expect(await statusOf(remove(from.id))).toBe(409);
    expect((await shelter.rest('GET', path)).body).toEqual(from);

    await shelter.client.updateAnimal.mutate({ animalId: animal.id, categoryId: to.id });
    expect(await shelter.rest('DELETE', path)).toMatchObject({ status: 204 });
    expect(await statusOf(remove(to.id))).toBe(409);
    await shelter.client.deleteAnimal.mutate({ animalId: animal.id });
    expect(await statusOf(remove(to.id))).toBe(200);
  });
});
