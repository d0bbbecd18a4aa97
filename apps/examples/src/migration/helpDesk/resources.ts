import { z } from 'zod';
import { crud } from './crud.ts';

const Address = z.object({ street: z.string(), city: z.string(), zip: z.string().optional() });

export const organizations = crud({
  name: 'organization',
  path: '/organizations',
  fields: z.object({
    name: z.string().min(1),
    domain: z.string().optional(),
    seats: z.number().int().default(1),
    address: Address.optional(),
  }),
});

export const customers = crud({
  name: 'customer',
  path: '/customers',
  fields: z.object({
    email: z.email(),
    name: z.string().min(1),
    vip: z.boolean().default(false),
    birthday: z.date().optional(),
    organization: z.number().int().nullish(),
  }),
});

export const teams = crud({
  name: 'team',
  path: '/teams',
  fields: z.object({ name: z.string().min(1), members: z.array(z.string()).default([]) }),
});

export const categories = crud({
  name: 'category',
  path: '/categories',
  fields: z.object({ name: z.string().min(1), parent: z.number().int().nullable().default(null) }),
});

export const tags = crud({
  name: 'tag',
  path: '/tags',
  fields: z.object({ name: z.string().regex(/^[a-z-]+$/), color: z.enum(['red', 'green', 'blue']) }),
});

export const articles = crud({
  name: 'article',
  path: '/articles',
  fields: z.object({
    title: z.string().min(1).max(200),
    body: z.string(),
    publishedAt: z.date().nullable().default(null),
    keywords: z.array(z.string()).max(10).default([]),
    isPinned: z.boolean(),
  }),
});

export const replies = crud({
  name: 'reply',
  path: '/replies',
  isPrivate: true,
  fields: z.object({ title: z.string(), text: z.string().max(5_000), shared: z.boolean() }),
});

export const views = crud({
  name: 'view',
  path: '/views',
  isPrivate: true,
  fields: z.object({
    name: z.string(),
    filter: z.object({ status: z.enum(['open', 'closed']).optional(), minPriority: z.number().optional() }),
    columns: z.array(z.string()).min(1),
  }),
});

export const webhooks = crud({
  name: 'webhook',
  path: '/webhooks',
  fields: z.object({
    url: z.url(),
    events: z.array(z.enum(['created', 'closed'])),
    active: z.boolean().default(true),
  }),
});

export const policies = crud({
  name: 'policy',
  path: '/sla-policies',
  fields: z.object({
    name: z.string(),
    firstReplyMinutes: z.number().positive(),
    solveHours: z.number().positive().max(10_000),
  }),
});

export const holidays = crud({
  name: 'holiday',
  path: '/holidays',
  fields: z.object({ day: z.date(), name: z.string(), everyYear: z.boolean().optional() }),
});

export const assets = crud({
  name: 'asset',
  path: '/assets',
  fields: z.object({
    serial: z.string(),
    price: z.number().nonnegative(),
    boughtAt: z.date().optional(),
    notes: z.record(z.string(), z.string()).default({}),
  }),
});
