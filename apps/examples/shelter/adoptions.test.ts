import { safe } from '@trpc/client';
import { describe, expect, test } from 'vitest';
import { sharedShelter, statusOf, stores } from './testing/newShelter.ts';
import { readEvents } from './testing/readEvents.ts';

describe.each(stores)('adoptions on the %s store', (store) => {
  const shelter = sharedShelter(store);

  const newAnimal = () => shelter.client.createAnimal.mutate({ name: 'Rex', categoryId: 1 });

  test('POST /animals/{animalId}/adoption records the adoption and marks the animal, which is then NOT_AVAILABLE, with its status', async () => {
    const { id: animalId } = await newAnimal();
    const path = `/animals/${animalId}/adoption`;
    const { status, body } = await shelter.rest('POST', path, { adopter: 'Grace' });
    const adoptedAt = expect.stringMatching(/^\d{4}-.*Z$/) as string;
    expect([status, body]).toEqual([201, { id: body.id, animalId, adopter: 'Grace', adoptedAt }]);
    const animal = await shelter.client.getAnimal.query({ animalId });
    expect(animal).toMatchObject({ status: 'adopted', version: 2 });
    expect(await shelter.client.listAdoptions.query({ cursor: body.id - 1 })).toEqual([body]);
    const asCsv = { headers: { ...shelter.headers, accept: 'text/csv' } };
    const csv = await fetch(`${shelter.origin}/v1/adoptions?cursor=${body.id - 1}`, asCsv);
    expect((await csv.text()).split('\r\n')).toEqual([
      '"id","animalId","adopter","adoptedAt"',
      `"${body.id}","${animalId}","Grace","${body.adoptedAt}"`,
    ]);
    const headers = { ...shelter.headers, 'last-event-id': '0' };
    const [event] = await readEvents(`${shelter.origin}/v1/adoptions/events`, 1, headers);
    expect(event?.data).toEqual(body);

    await shelter.client.updateAnimal.mutate({ animalId, status: 'reserved' });
    const [adoption, error] = await safe(shelter.client.adoptAnimal.mutate({ animalId, adopter: 'Ada' }));
    // Typed: `data` of another code has no `status`.
    const known = error?.data?.code === 'NOT_AVAILABLE' ? error.data.data.status : undefined;
    expect([adoption, known]).toEqual([undefined, 'reserved']);
    const missing = shelter.client.adoptAnimal.mutate({ animalId: 1_000_000, adopter: 'Ada' });
    expect(await statusOf(missing)).toBe(404);
  });

  test('of 8 concurrent adoptions of an animal, one succeeds and 7 get NOT_AVAILABLE', async () => {
    const { id } = await newAnimal();
    const adopted = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        shelter.rest('POST', `/animals/${id}/adoption`, { adopter: `Visitor ${index}` }),
      ),
    );
    expect(adopted.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(adopted.filter(({ body }) => body.code === 'NOT_AVAILABLE')).toHaveLength(7);
  });
});
