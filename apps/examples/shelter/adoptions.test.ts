import { safe } from '@trpc/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { adoptions } from './records.ts';
import { openStore } from './service.ts';
import { newShelter, statusOf, stores } from './testing/newShelter.ts';
import { readEvents } from './testing/readEvents.ts';

describe.each(stores)('adoptions on the %s store', (store) => {
  let shelter: Awaited<ReturnType<typeof newShelter>>;
  beforeAll(async () => {
    shelter = await newShelter(store);
    await shelter.client.createCategory.mutate({ name: 'Dogs' });
  });
  afterAll(() => shelter.close());

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

  test('an adoption that a process has stored, but not published before it died, is published after a restart', async () => {
    const own = await newShelter(store);
    onTestFinished(() => own.close());
    await own.client.createCategory.mutate({ name: 'Dogs' });
    const { id } = await own.client.createAnimal.mutate({ name: 'Rex', categoryId: 1 });
    const published = await own.client.adoptAnimal.mutate({ animalId: id, adopter: 'Ada' });
    const left = { animalId: 2, adopter: 'Grace', adoptedAt: '2026-11-23T18:00:00.000Z' };
    let leftId = 0;
    const origin = await own.restart(async (options) => {
      const opened = await openStore(options, () => {});
      leftId = (await opened.collection(adoptions).create({ ...left, isUnpublished: true })).id;
      await opened.close();
    });
    const watch = async () =>
      (await readEvents(`${origin}/v1/adoptions/events`, 2, { ...own.headers, 'last-event-id': '0' })).map(
        ({ data }) => data,
      );
    const both = [published, { id: leftId, ...left }];
    expect(await watch()).toEqual(both);
    // The mark is no part of the output, and the adoption is not published again.
    expect((await own.rest('GET', '/adoptions')).body).toEqual(both);
    await own.restart();
    expect(await own.rest('GET', '/adoptions')).toMatchObject({ body: both });
  });
});
