import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedShelter } from './testing/newShelter.ts';

const shelter = sharedShelter();

const newAnimal = () => shelter.client.createAnimal.mutate({ name: 'Rex', categoryId: 1 });
const photosIn = () => readdir(join(shelter.dataDir, 'photos'));

/** Bytes of a JPEG of this size. */
function jpeg(bytes: number): Uint8Array<ArrayBuffer> {
  const file = new Uint8Array(bytes).map((_, at) => at % 251);
  file.set([0xff, 0xd8, 0xff]);
  return file;
}

function put(animalId: number, photo: Uint8Array<ArrayBuffer>, type = 'image/jpeg'): Promise<Response> {
  const body = new FormData();
  body.set('photo', new File([photo], '../../rex.jpg', { type }));
  const { origin, headers } = shelter;
  return fetch(`${origin}/v1/animals/${animalId}/photo`, { method: 'PUT', headers, body });
}
const get = (animalId: number) => fetch(`${shelter.origin}/v1/animals/${animalId}/photo`);

test('PUT /animals/{animalId}/photo stores a form’s photo of 3 MiB, and GET returns its bytes to anyone', async () => {
  const { id } = await newAnimal();
  expect((await get(id)).status).toBe(404);
  const photo = jpeg(3 * 2 ** 20);
  expect((await put(id, photo)).status).toBe(204);
  const response = await get(id);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
  expect(Buffer.from(await response.arrayBuffer()).equals(photo)).toBe(true);
  const changedAt = Date.parse(response.headers.get('last-modified') ?? '');
  expect(Math.abs(Date.now() - changedAt)).toBeLessThan(60_000);
});

test('a second PUT replaces the photo, and DELETE of the animal removes it', async () => {
  const { id } = await newAnimal();
  await put(id, jpeg(100));
  expect((await put(id, jpeg(200))).status).toBe(204);
  expect((await (await get(id)).arrayBuffer()).byteLength).toBe(200);
  await shelter.client.deleteAnimal.mutate({ animalId: id });
  expect((await get(id)).status).toBe(404);
});

test('a rejected photo leaves no file', async () => {
  const { id } = await newAnimal();
  const before = await photosIn();
  expect((await put(1_000_000, jpeg(100))).status).toBe(404);
  expect((await put(id, jpeg(100), 'text/html')).status).toBe(400);
  expect((await put(id, jpeg(10 * 2 ** 20 + 1))).status).toBe(413);
  expect((await shelter.rest('PUT', `/animals/${id}/photo`, {})).status).toBe(415);
  expect(await photosIn()).toEqual(before);
});
