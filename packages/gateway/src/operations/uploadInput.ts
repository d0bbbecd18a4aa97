import { octetInputParser } from '@trpc/server/http';
import type { z } from 'zod';
import { isFileStream } from '../procedures/fileStream.ts';
import { isZod } from '../procedures/isZod.ts';
import type { RestMeta } from '../procedures/meta.ts';
import { innermost } from './zodSchema.ts';

/** A body that the procedure receives as bytes or files instead of parsed fields. */
export interface OperationUpload {
  /**
   * The type that the procedure accepts: a `ReadableStream`, a `Uint8Array`, a `Blob`, the files of a form while they
   * arrive, or a form with spooled files.
   */
  readonly kind: UploadKind;
  /** The property of the input; `undefined` if the upload is the whole input, or a form with spooled files. */
  readonly field: string | undefined;
  /** The largest body, in bytes; `undefined`: the gateway's `maxBodyBytes`. */
  readonly maxBytes: number | undefined;
  readonly maxFileBytes: number;
  readonly maxFiles: number;
}

type BytesKind = 'stream' | 'bytes' | 'blob';
type UploadKind = BytesKind | 'files' | 'spool';

/** The default limit of files in a form. */
const defaultMaxFiles = 100;

/** Returns the binary type that a parser accepts; `undefined` for a parser that accepts something else, or anything. */
export function bytesKind(parser: unknown): BytesKind | undefined {
  if (parser === octetInputParser) return 'stream';
  if (!isZod(parser) || isFileStream(parser)) return undefined;
  const def = innermost(parser)?._zod.def;
  if (def?.type !== 'custom') return undefined;
  // In zod 4.6, `.meta()` drops the class of `z.instanceof`, so try a sample of each class.
  const [other, stream, bytes, blob] = samples().map((sample) => acceptsSample(def, sample));
  if (other) return undefined;
  return stream ? 'stream' : bytes ? 'bytes' : blob ? 'blob' : undefined;
}

const samples = () => [{}, new ReadableStream(), new Uint8Array(0), new Blob([])];

function acceptsSample({ fn }: z.core.$ZodCustomDef, sample: unknown): boolean {
  try {
    return fn(sample) === true;
  } catch {
    return false;
  }
}

/** Returns the upload limits of the metadata, with defaults. */
export function uploadLimits({
  upload: { maxBytes, maxFileBytes = Infinity, maxFiles = defaultMaxFiles } = {},
}: RestMeta): Pick<OperationUpload, 'maxBytes' | 'maxFileBytes' | 'maxFiles'> {
  return { maxBytes, maxFileBytes, maxFiles };
}
