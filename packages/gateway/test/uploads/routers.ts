import type { GatewayMeta, RestMeta, Spool } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { octetInputParser } from '@trpc/server/http';
import { z } from 'zod';

// Shapes of uploads. Test titles name the GitHub threads that ask for them.

export const t = initTRPC.meta<GatewayMeta>().create();

export const octets = 'application/octet-stream';
export const mebibyte = 1024 * 1024;

export const put = (path: `/${string}`, more: Partial<RestMeta> = {}) =>
  t.procedure.meta({ openapi: { method: 'PUT', path, ...more } });

export const post = (more: Partial<RestMeta> = {}) =>
  t.procedure.meta({ openapi: { method: 'POST', path: '/album', ...more } });

export function formOf(...fields: readonly (readonly [name: string, value: string | File])[]): RequestInit {
  const body = new FormData();
  for (const [name, value] of fields) body.append(name, value);
  return { method: 'POST', body };
}

/** A spool that keeps files in memory, and counts those that it has stored and keeps, and the errors. */
export function memorySpool() {
  const state = { stored: 0, kept: 0, errors: 0 };
  const spool: Spool = async ({ name, stream, type }) => {
    try {
      const file = new File([await new Response(stream()).blob()], name, { type });
      state.stored += 1;
      state.kept += 1;
      return { file, remove: async () => void (state.kept -= 1) };
    } catch (error) {
      state.errors += 1;
      throw error;
    }
  };
  return { spool, state };
}

export async function sizeOf(stream: ReadableStream<Uint8Array>): Promise<number> {
  let size = 0;
  for await (const chunk of stream) size += chunk.byteLength;
  return size;
}

export const Size = z.object({ size: z.int(), name: z.string().optional() });
export const stream = z.instanceof(ReadableStream<Uint8Array>);

export const octetParser = t.router({
  upload: put('/file')
    .input(octetInputParser)
    .output(Size)
    .mutation(async ({ input }) => ({ size: await sizeOf(input) })),
});

export const streamBesideFields = t.router({
  upload: put('/files/{name}', { in: { tag: 'query', tenant: { in: 'header', name: 'X-Tenant' } } })
    .input(z.object({ name: z.string(), tag: z.int(), tenant: z.string(), content: stream }))
    .output(z.json())
    .mutation(async ({ input: { content, ...rest } }) => ({ ...rest, size: await sizeOf(content) })),
});

const heldInMemory = (schema: z.ZodType<Uint8Array<ArrayBuffer> | Blob>) =>
  t.router({
    whole: put('/whole')
      .input(schema)
      .output(Size)
      .mutation(({ input }) => ({ size: input instanceof Blob ? input.size : input.byteLength })),
    part: put('/part/{name}')
      .input(z.object({ name: z.string(), content: schema }))
      .output(z.json())
      .mutation(async ({ input: { name, content } }) => ({
        name,
        text: await new Response(content).text(),
      })),
  });

export const wholeBytes = heldInMemory(z.instanceof(Uint8Array<ArrayBuffer>));
export const wholeBlob = heldInMemory(z.instanceof(Blob));

export const photos = t.router({
  photo: put('/photo', { contentTypes: ['image/png', 'image/jpeg'] })
    .input(z.instanceof(Blob))
    .output(z.json())
    .mutation(({ input }) => input.type),
});

const readSize = (path: `/${string}`, more?: Partial<RestMeta>) =>
  put(path, more)
    .input(stream)
    .output(Size)
    .mutation(async ({ input }) => ({ size: await sizeOf(input) }));

export const limitedUploads = t.router({
  upload: readSize('/file', { upload: { maxSize: 2 * mebibyte } }),
  other: readSize('/other'),
  note: put('/note')
    .input(z.object({ text: z.string() }))
    .output(Size)
    .mutation(({ input }) => ({ size: input.text.length })),
});

export const unread = t.router({
  upload: put('/file')
    .input(stream)
    .output(Size)
    .mutation(() => ({ size: 0 })),
});

/** A router that calls `run` with the title while its files are spooled. */
export const spooledAlbumOf = (
  run: (title: string) => Promise<void> | void = () => {},
  limits: RestMeta['upload'] = { maxSize: 3 * mebibyte },
) =>
  t.router({
    add: post({ contentTypes: ['multipart/form-data'], upload: { spool: true, ...limits } })
      .input(
        z.object({
          title: z.string(),
          photo: z.file().max(mebibyte),
          more: z.array(z.file()).optional(),
        }),
      )
      .output(z.json())
      .mutation(async ({ input: { title, photo, more = [] } }) => {
        await run(title);
        return {
          title,
          photo: await photo.text(),
          more: more.map(({ name, size, type }) => [name, size, type]),
        };
      }),
  });

/** @public A shape of `generatedClients/composed.ts`, which takes all exports. */
export const spooledAlbum = spooledAlbumOf();
