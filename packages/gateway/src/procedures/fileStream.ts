import * as z from 'zod';
import { isAsyncIterable } from '../http/response.ts';
import type { UploadedFile } from '../http/upload.ts';

const isFileStreamValue = (value: unknown): value is AsyncIterable<UploadedFile> => isAsyncIterable(value);

/**
 * Schema of an input property that streams the files of a `multipart/form-data` body, one at a time as they arrive. The
 * other properties are text fields of the form, which clients must send before the files. `upload` in the metadata sets
 * limits.
 * @example
 * .input(z.object({ title: z.string(), photos: fileStream() }))
 * .mutation(async ({ input }) => {
 *   for await (const photo of input.photos) await save(photo.name, photo.stream());
 * })
 */
export const fileStream = () =>
  z.custom<AsyncIterable<UploadedFile>>(isFileStreamValue).meta({
    override: { type: 'array', items: { type: 'string', format: 'binary' } },
    // For trpc-gateway-typegen: no tRPC client can send it.
    typescript: 'never',
  });

/** Whether a definition is that of a schema of `fileStream()`, even if `.meta()` was called on it. */
export const isFileStream = (def: z.core.$ZodCustomDef | undefined): boolean => def?.fn === isFileStreamValue;
