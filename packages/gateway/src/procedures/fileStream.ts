import { z } from 'zod';
import { isAsyncIterable } from '../http/isAsyncIterable.ts';
import type { UploadedFile } from '../http/upload.ts';
import { isZod } from './isZod.ts';

const isFileStreamValue = (value: unknown): value is AsyncIterable<UploadedFile> => isAsyncIterable(value);

/**
 * The files of a `multipart/form-data` body, one after the other while they arrive: a property of an input whose other
 * properties are the form's texts, which clients send first. `upload` in the metadata limits them.
 * @example
 * .input(z.object({ title: z.string(), photos: fileStream() }))
 * .mutation(async ({ input }) => {
 *   for await (const photo of input.photos) await save(photo.name, photo.stream());
 * })
 */
export const fileStream = () =>
  z.custom<AsyncIterable<UploadedFile>>(isFileStreamValue).meta({
    override: { type: 'array', items: { type: 'string', format: 'binary' } },
  });

/** Whether a schema is a `fileStream()`, with or without metadata of its own. */
export function isFileStream(schema: unknown): boolean {
  if (!isZod(schema)) return false;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  return def.type === 'custom' && def.fn === isFileStreamValue;
}
