import { describe, expect, onTestFinished, test } from 'vitest';
import { newShelter, sharedShelter, stores } from './testing/newShelter.ts';

describe.each(stores)('animals on the %s store', (store) => {
  const shelter = sharedShelter(store);

  const rex = { name: 'Rex', categoryId: 1 };

  test('POST, GET, PATCH and DELETE /animals create, read, change and delete an animal', async () => {
    const created = await shelter.rest('POST', '/animals', rex);
    const { id } = created.body;
    const animal = { id, version: 1, ...rex, status: 'available' };
    expect(created).toMatchObject({ status: 201, location: `/v1/animals/${id}`, body: animal });
    const path = `/animals/${id}`;
    expect(await shelter.rest('GET', path)).toMatchObject({ status: 200, body: animal });
    const cat = await shelter.client.createAnimal.mutate({ name: 'Tom', categoryId: 2 });
    expect((await shelter.rest('GET', '/animals')).body).toEqual([animal, cat]);
    expect((await shelter.rest('GET', '/animals?categoryId=2')).body).toEqual([cat]);
    const changed = { ...animal, version: 2, status: 'adopted' };
    const patch = { status: 'adopted', ifVersion: 1 };
    expect(await shelter.rest('PATCH', path, patch)).toMatchObject({ status: 200, body: changed });
    expect(await shelter.rest('DELETE', `${path}?ifVersion=1`)).toMatchObject({ status: 409 });
    expect(await shelter.rest('DELETE', `${path}?ifVersion=2`)).toMatchObject({ status: 204 });
    expect(await shelter.rest('GET', path)).toMatchObject({ status: 404 });
    expect(await shelter.rest('PATCH', path, { name: 'Max' })).toMatchObject({ status: 404 });
    expect(await shelter.rest('DELETE', path)).toMatchObject({ status: 404 });
  });

  test('POST /animals and /categories with an Idempotency-Key create one record, and repeats get the same response, also after a restart', async () => {
    const own = await newShelter(store);
    onTestFinished(() => own.close());
    const addCategory = () =>
      own.rest('POST', '/categories', { name: 'Dogs' }, { 'idempotency-key': 'key-1' });
    const addAnimal = (name: string) =>
      own.rest('POST', '/animals', { ...rex, name }, { 'idempotency-key': 'key-1' });
    const [category, animal] = [await addCategory(), await addAnimal('Rex')];
    expect([category, animal]).toMatchObject([
      { status: 201, isReplayed: false },
      { status: 201, isReplayed: false },
    ]);
    expect(await addAnimal('Rex')).toEqual({ ...animal, isReplayed: true });
    await own.restart();
    expect(await addCategory()).toEqual({ ...category, isReplayed: true });
    expect(await addAnimal('Rex')).toEqual({ ...animal, isReplayed: true });
    expect(await addAnimal('Max')).toMatchObject({ status: 422 });
    expect((await own.rest('GET', '/categories')).body).toHaveLength(1);
    expect((await own.rest('GET', '/animals')).body).toHaveLength(1);
  });
});
