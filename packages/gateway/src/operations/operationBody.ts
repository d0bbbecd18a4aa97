import type { z } from 'zod';
import type { Header } from '../http/response.ts';
import { isFileStream } from '../procedures/fileStream.ts';
import { reject } from '../procedures/gatewayError.ts';
import type { RestMeta } from '../procedures/meta.ts';
import { requireJson } from './inspectJson.ts';
import { textParameter, type TextParameter } from './parameter.ts';
import type { PlacedProperty } from './propertyPlaces.ts';
import { acceptsUndefined, details, innermost, type Schema, type Shape } from './schema.ts';

/** The request body of an operation. */
export interface OperationBody {
  readonly contentTypes: readonly string[];
  /** Whether the body is required: at least one of its properties is. */
  readonly required: boolean;
  /** Its properties. */
  readonly shape: Shape;
  /** Whether the body is the whole input. */
  readonly isWhole: boolean;
  /** The upload, if the body is bytes or has streamed files; `undefined` if it is parsed into properties. */
  readonly upload: OperationUpload | undefined;
  /** The properties of the input in other places. They are ignored in the body. */
  readonly otherFields: readonly string[];
  /** The fields of a form: strings and files. Empty if the body is not a form. */
  readonly fields: ReadonlyMap<string, TextParameter>;
  /** Headers that list the media types, for OPTIONS and 415: `Accept-Query`, or `Accept-Patch` for a merge patch. */
  readonly accepts: readonly Header[];
}

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

const octetStreamType = 'application/octet-stream';
export const jsonContentType = 'application/json';
const mergePatchType = 'application/merge-patch+json';
export const formType = 'application/x-www-form-urlencoded';
const multipartType = 'multipart/form-data';
const parsedTypes = [jsonContentType, formType, multipartType] as const;
/** A merge patch is for `PATCH` only (RFC 7396). */
const patchTypes = [...parsedTypes, mergePatchType] as const;

/** A media type without parameters (RFC 9110 §8.3.1), in lower case, because media types are case-insensitive. */
const mediaTypePattern = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/;

/** Whether a media type is JSON. */
export const isJson = (type: string): boolean => type === jsonContentType || type === mergePatchType;

/** Where the properties of an input are besides its body. */
interface BodyContext {
  readonly isInputOptional: boolean;
  readonly isUnion: boolean;
  readonly otherFields: readonly string[];
}

/**
 * Creates a body with properties of an object.
 * @returns `undefined` if there are no properties
 * @throws {GatewayError}
 */
export function operationBody(
  properties: readonly PlacedProperty[],
  rest: RestMeta,
  { isInputOptional, isUnion, otherFields }: BodyContext,
): OperationBody | undefined {
  if (properties.length === 0) return undefined;
  const shape: Shape = Object.fromEntries(properties.map(({ field, schema }) => [field, schema]));
  const bytes = properties.find(({ schema }) => bytesKind(schema));
  if (bytes) {
    const { field, schema } = bytes;
    const other = properties.find((property) => property !== bytes)?.field;
    if (other !== undefined) {
      reject(
        `"${field}" is the whole body, so "${other}" cannot be in it; declare in: { ${other}: "query" }`,
      );
    }
    const isAbsent = isInputOptional || acceptsUndefined(schema);
    return { ...bytesBody(schema, field, isAbsent, rest), shape, otherFields };
  }
  const files = properties.find(({ schema }) => isFileStream(schema[details]?.custom));
  const isRequired =
    !isInputOptional && (isUnion || !properties.every(({ schema }) => acceptsUndefined(schema)));
  const body = files
    ? newBody(rest, isRequired, 'a form with a fileStream()', [multipartType])
    : newBody(
        rest,
        isRequired,
        `a body of ${rest.method}`,
        rest.method === 'PATCH' ? patchTypes : parsedTypes,
      );
  const { contentTypes } = body;
  const texts = properties.filter((property) => property !== files);
  if (contentTypes.some(isJson)) for (const { field, schema } of texts) requireJson(schema, 'body', [field]);
  const canBeFile = !files && contentTypes.every((type) => type === multipartType);
  const fields = contentTypes.every(isJson)
    ? []
    : texts.map((property) => textParameter(property, { canBeFile }));
  const isSpooled = rest.upload?.spool === true && fields.some(({ converter }) => converter.isFile);
  return {
    ...body,
    shape,
    upload:
      files || isSpooled
        ? { kind: isSpooled ? 'spool' : 'files', field: files?.field, ...uploadLimits(rest) }
        : undefined,
    otherFields,
    // Problems of text fields are reported before those of files.
    fields: new Map(
      fields
        .toSorted((one, other) => Number(one.converter.isFile) - Number(other.converter.isFile))
        .map((parameter) => [parameter.field, parameter]),
    ),
  };
}

/**
 * Creates a body without properties.
 * @param what the body, for the error message
 * @param supported the media types that it may have, the default one first
 * @throws {GatewayError} for another media type
 */
function newBody(
  rest: RestMeta,
  isRequired: boolean,
  what: string,
  supported: readonly [string, ...string[]],
  isSupported = (type: string) => supported.includes(type),
): OperationBody {
  const { contentTypes = [supported[0]], method } = rest;
  const other = contentTypes.find((type) => !isSupported(type));
  if (other !== undefined) {
    reject(`its content type ${other} is not supported for ${what}; use ${supported.join(', ')}`);
  }
  return {
    contentTypes,
    required: isRequired || method === 'QUERY',
    shape: {},
    isWhole: false,
    upload: undefined,
    otherFields: [],
    fields: new Map(),
    accepts: acceptHeaders(method, contentTypes),
  };
}

/**
 * Creates a body that is the whole input: an array, a scalar, a record, or a union of those.
 * @throws {GatewayError}
 */
export function wholeInputBody(schema: Schema, isInputOptional: boolean, rest: RestMeta): OperationBody {
  requireJson(schema, 'body');
  return {
    ...newBody(rest, !isInputOptional, 'an input that is not an object', [jsonContentType]),
    isWhole: true,
  };
}

/**
 * Creates a binary body, which is the whole input or one of its properties.
 * @throws {GatewayError}
 */
export function bytesBody(
  schema: Schema,
  field: string | undefined,
  isOptionalBody: boolean,
  rest: RestMeta,
): OperationBody {
  const isSupported = (type: string) =>
    mediaTypePattern.test(type) && !patchTypes.some((each) => each === type);
  const examples = [octetStreamType, 'image/png or another binary type in lower case'] as const;
  return {
    ...newBody(rest, !isOptionalBody, 'a body of bytes', examples, isSupported),
    isWhole: field === undefined,
    upload: { kind: bytesKind(schema) ?? 'stream', field, ...uploadLimits(rest) },
  };
}

function acceptHeaders(method: RestMeta['method'], contentTypes: readonly string[]): readonly Header[] {
  const types = contentTypes.join(', ');
  // A list of tokens in the syntax of structured fields (RFC 10008 §3, RFC 9651 §3.3.4).
  if (method === 'QUERY') return [['accept-query', types]];
  // RFC 5789 §3.1
  return contentTypes.includes(mergePatchType) ? [['accept-patch', types]] : [];
}

/** Returns the binary type that a schema accepts; `undefined` for a schema that accepts something else, or anything. */
export function bytesKind(schema: Schema | undefined): BytesKind | undefined {
  const def = schema && innermost(schema)?.[details]?.custom;
  if (def === undefined || isFileStream(def)) return undefined;
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
const uploadLimits = ({
  upload: { maxBytes, maxFileBytes = Infinity, maxFiles = defaultMaxFiles } = {},
}: RestMeta): Pick<OperationUpload, 'maxBytes' | 'maxFileBytes' | 'maxFiles'> => ({
  maxBytes,
  maxFileBytes,
  maxFiles,
});
