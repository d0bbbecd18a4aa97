import { z } from 'zod';

// The data that the profile `json` serves, of the form and size that HttpArena describes.

const categories = ['electronics', 'books', 'garden', 'toys', 'tools'];

/** 50 items with texts, numbers, booleans, lists and objects. */
const items = Array.from({ length: 50 }, (_, index) => ({
  id: index + 1,
  name: `Item number ${index + 1}`,
  category: categories[index % categories.length] as string,
  price: 100 + ((index * 37) % 400),
  quantity: 1 + ((index * 7) % 30),
  active: index % 3 !== 0,
  tags: index % 2 === 0 ? ['fast', 'new'] : ['popular'],
  rating: { score: 30 + (index % 20), count: 10 + index * 3 },
}));

/** What `pageOf` returns, for the contenders that check or serialize it by a schema. */
export const Page = z.object({
  items: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      category: z.string(),
      price: z.int(),
      quantity: z.int(),
      active: z.boolean(),
      tags: z.array(z.string()),
      rating: z.object({ score: z.int(), count: z.int() }),
      total: z.int(),
    }),
  ),
  count: z.int(),
});

/** The first items, each with what its quantity costs, times `m`. */
export const pageOf = (count: number, m: number) => ({
  items: items.slice(0, count).map(({ id, name, category, price, quantity, active, tags, rating }) => ({
    id,
    name,
    category,
    price,
    quantity,
    active,
    tags,
    rating,
    total: price * quantity * m,
  })),
  count,
});
