import { describe, expect, test } from 'vitest';
import { sharedShelter, stores } from './testing/newShelter.ts';

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
});
