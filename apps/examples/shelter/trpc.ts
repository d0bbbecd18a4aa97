import type { Context as StoreContext } from '@petstore/core';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import type { AdoptionFeed } from './adoptionFeed.ts';
import type { PhotoFolder } from './photoFolder.ts';

export interface Context extends StoreContext {
  readonly adoptionFeed: AdoptionFeed;
  readonly photos: PhotoFolder;
}

export const { router, procedure } = initTRPC
  .context<Context>()
  .meta<GatewayMeta>()
  // Proxies close connections on which nothing is sent.
  .create({ sse: { ping: { enabled: true, intervalMs: 15_000 } } });

/** Procedures for the staff, who change animals and categories. */
export const staff = procedure.meta({ scopes: ['animals:write'] });

/** The id of a record. */
export const Id = z.int().min(1);

/** Text that every store keeps unchanged. Lone surrogates are rejected, because UTF-8 cannot encode them. */
export const Text = z
  .string()
  .min(1)
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode, without lone surrogates');

/** The version of a record: starts at 1 and is incremented by each change. */
export const Version = z
  .int()
  .min(1)
  .meta({ description: 'Starts at 1 and is incremented by each change. Set by the service.' });

/** The version that an update or a delete is based on. */
export const IfVersion = Version.optional().meta({
  description: 'Change the record only if it has this version; otherwise the response is 409.',
});

/** The pagination fields of the input of a list. */
export const page = {
  limit: z.int().min(1).max(100).default(20).meta({ description: 'Maximum number of records returned.' }),
  cursor: z.int().optional().meta({ description: 'Only records with a greater id.' }),
};

/** Returns the response headers of a create: the location of the record. */
export const locationBelow = (path: string) => ({
  Location: {
    description: 'URL of the record.',
    value: ({ id }: { readonly id: number }, { basePath }: { readonly basePath: string }) =>
      `${basePath}${path}/${id}`,
  },
});

const unavailable = { 503: 'The service or its store is unavailable.' };

/** The documented errors of each kind of operation. */
export const errors = {
  list: unavailable,
  get: { ...unavailable, 404: 'There is no record with this id.' },
  create: { ...unavailable, 409: 'The record conflicts with another.' },
  change: {
    ...unavailable,
    404: 'There is no record with this id.',
    409: 'The version of the record is not `ifVersion`, or the record conflicts with another.',
  },
};
