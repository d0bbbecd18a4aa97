import { z } from 'zod';

/** Number of animals of a response: 20 kB of JSON. */
const pageSize = 150;

const animals = Array.from({ length: 10_000 }, (_, id) => ({
  id,
  name: `${['Rex', 'Bella', 'Max', 'Luna', 'Charlie', 'Lucy', 'Cooper', 'Daisy'][id % 8]} ${(id * 7919) % 1000}`,
  status: ['available', 'pending', 'sold'][id % 3] ?? 'sold',
  categoryId: (id * 31) % 17,
  createdAt: new Date(1.7e12 + id * 86_431_234).toISOString(),
}));

/** The input of each contender, as text. */
export const From = z.object({ from: z.coerce.number().int() });

/** The animals from an id on: another response for each, so that none can be kept. */
export const listFrom = (from: number): typeof animals => animals.slice(from, from + pageSize);

export const maxFrom = animals.length - pageSize;

/** The level of each contender: the default of zlib, and of `CompressionStream`, which Hono uses and which has no option. */
export const level = 6;

export const port = Number(process.env['PORT']);
