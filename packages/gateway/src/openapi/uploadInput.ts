import { octetInputParser } from '@trpc/server/http';
import type { z } from 'zod';
import { isFileStream } from '../procedures/fileStream.ts';
import { isZod } from '../procedures/isZod.ts';
import type { RestMeta } from '../procedures/meta.ts';
import { reject } from './unservable.ts';
import { innermost } from './zodSchema.ts';

/** A body that is not read into fields, but passed on. */
export interface OperationUpload {
  /**
   * What the procedure takes: a `ReadableStream`, a `Uint8Array`, a `Blob`, the files of a form while they arrive, or a form
   * whose files are spooled.
   */
  readonly kind: UploadKind;
  /** The property of the input; `undefined` where it is the whole input, or a form that is spooled. */
  readonly field: string | undefined;
  /** The largest body, in bytes; `undefined`: the gateway's `maxBodyBytes`. */
  readonly maxBytes: number | undefined;
  readonly maxFileBytes: number;
  readonly maxFiles: number;
}

type BytesKind = 'stream' | 'bytes' | 'blob';
type UploadKind = BytesKind | 'files' | 'spool';

/** Of a form, where the metadata names no limit. */
const defaultMaxFiles = 100;

/** What a parser takes of the bytes of a body; `undefined` for one that takes something else, or anything. */
export function bytesKind(parser: unknown): BytesKind | undefined {
  if (parser === octetInputParser) return 'stream';
  if (!isZod(parser) || isFileStream(parser)) return undefined;
  const def = innermost(parser)?._zod.def;
  if (def?.type !== 'custom') return undefined;
  // `z.instanceof` says its class nowhere that `.meta()` keeps (zod 4.6): what it takes shows it.
  const [other, stream, bytes, blob] = samples().map((sample) => takes(def, sample));
  if (other) return undefined;
  return stream ? 'stream' : bytes ? 'bytes' : blob ? 'blob' : undefined;
}

const samples = () => [{}, new ReadableStream(), new Uint8Array(0), new Blob([])];

function takes({ fn }: z.core.$ZodCustomDef, sample: unknown): boolean {
  try {
    return fn(sample) === true;
  } catch {
    return false;
  }
}

/**
 * The limits of uploads that the metadata names.
 * @throws {Unservable}
 */
export function uploadLimits({
  upload: { spool: _spool, ...limits } = {},
}: RestMeta): Pick<OperationUpload, 'maxBytes' | 'maxFileBytes' | 'maxFiles'> {
  for (const [name, value] of Object.entries(limits)) {
    if (!(value > 0)) reject(`its upload.${name} is ${value}; it must be a positive number`);
  }
  const { maxBytes, maxFileBytes = Infinity, maxFiles = defaultMaxFiles } = limits;
  return { maxBytes, maxFileBytes, maxFiles };
}
