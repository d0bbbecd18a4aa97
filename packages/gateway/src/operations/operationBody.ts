import type { z } from 'zod';
import type { Header } from '../http/response.ts';
import { isFileStream } from '../procedures/fileStream.ts';
import { reject } from '../http/gatewayError.ts';
import type { RestMeta } from '../procedures/meta.ts';
import { jsonProblem } from './inspectJson.ts';
import { formParameter, type TextParameter } from './parameter.ts';
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
const supportedTypes = [jsonContentType, formType, multipartType, mergePatchType];

/** A media type without parameters (RFC 9110 §8.3.1), in lower case, because media types are case-insensitive. */
const mediaTypePattern = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/;

/** Whether a media type is JSON. */
export const isJson = (type: string): boolean => type === jsonContentType || type === mergePatchType;

interface BodyContext {
  readonly rest: RestMeta;
  readonly isInputOptional: boolean;
  readonly isUnion: boolean;
  readonly otherFields: readonly string[];
}

/**
 * Creates a body with the properties of an object.
 * @returns `undefined` if there are no properties
 * @throws {GatewayError}
 */
export function operationBody(
  shape: Shape,
  { rest, isInputOptional, isUnion, otherFields }: BodyContext,
): OperationBody | undefined {
  const upload = uploadBody(shape, isInputOptional, otherFields, rest);
  if (upload) return upload;
  const files = fileStreamOf(shape, rest);
  const { contentTypes = [files === undefined ? jsonContentType : multipartType] } = rest;
  if (contentTypes.length === 0) {
    reject(
      `its contentTypes is empty; list at least one of ${supportedTypes.join(', ')}, or remove it (the default is ${jsonContentType})`,
    );
  }
  const entries = Object.entries(shape);
  if (entries.length === 0) return undefined;
  const properties = entries.filter(([name]) => name !== files);
  const unsupported = contentTypes.find((type) => !supportedTypes.includes(type));
  if (unsupported !== undefined) {
    reject(`its content type ${unsupported} is not supported; use one of ${supportedTypes.join(', ')}`);
  }
  if (contentTypes.includes(mergePatchType) && rest.method !== 'PATCH') {
    reject(
      `its content type ${mergePatchType} is only for PATCH (RFC 7396), but its method is ${rest.method}; use PATCH, or another content type`,
    );
  }
  if (contentTypes.some(isJson)) {
    for (const [name, schema] of properties) {
      const problem = jsonProblem(schema);
      if (problem !== undefined) reject(`in its body, "${name}": ${problem}`);
    }
  }
  const isMultipart = contentTypes.every((type) => type === multipartType);
  const fields = contentTypes.every(isJson)
    ? []
    : properties.map(([name, schema]) => formParameter(name, schema, isMultipart));
  const file = fields.find(({ converter }) => converter.isFile)?.field;
  if (files !== undefined && file !== undefined) {
    reject(`"${file}" is a file and "${files}" is a fileStream(); use only one of them`);
  }
  const isSpooled = rest.upload?.spool === true && isMultipart && file !== undefined;
  // Problems of string fields are reported before those of files.
  const ordered = [...fields.filter(({ converter }) => !converter.isFile), ...fields];
  return {
    ...newBody(
      rest,
      contentTypes,
      !isInputOptional && (isUnion || entries.some(([, schema]) => !acceptsUndefined(schema))),
    ),
    shape,
    upload:
      files !== undefined || isSpooled
        ? { kind: isSpooled ? 'spool' : 'files', field: files, ...uploadLimits(rest) }
        : undefined,
    otherFields,
    fields: new Map(ordered.map((parameter) => [parameter.field, parameter])),
  };
}

/** Creates a body without properties. */
const newBody = (rest: RestMeta, contentTypes: readonly string[], isRequired: boolean): OperationBody => ({
  contentTypes,
  required: isRequired || rest.method === 'QUERY',
  shape: {},
  isWhole: false,
  upload: undefined,
  otherFields: [],
  fields: new Map(),
  accepts: acceptHeaders(rest.method, contentTypes),
});

/**
 * Creates a body that is the whole input: an array, a scalar, a record, or a union of those.
 * @throws {GatewayError}
 */
export function wholeInputBody(wholeSchema: Schema, isInputOptional: boolean, rest: RestMeta): OperationBody {
  const { contentTypes = [jsonContentType] } = rest;
  const other = contentTypes.find((type) => type !== jsonContentType);
  if (other !== undefined) {
    reject(
      `its input is not a zod object, so ${other} has no field names for it; use z.object(…), or only ${jsonContentType}`,
    );
  }
  const problem = jsonProblem(wholeSchema);
  if (problem !== undefined) reject(`in its body, ${problem}`);
  return { ...newBody(rest, contentTypes, !isInputOptional), isWhole: true };
}

/** Returns the `fileStream()` property of a form. */
function fileStreamOf(shape: Shape, { contentTypes = [multipartType] }: RestMeta): string | undefined {
  const [files, other] = Object.keys(shape).filter((name) => isFileStream(shape[name]?.[details]?.custom));
  if (files === undefined) return undefined;
  if (other !== undefined) {
    reject(`"${files}" and "${other}" are both fileStream(); use one for all files`);
  }
  if (contentTypes.some((type) => type !== multipartType)) {
    reject(
      `"${files}" is a fileStream(), which only ${multipartType} supports; remove the other content types`,
    );
  }
  return files;
}

/** Creates a body with a single binary property; `undefined` if there is no such property. */
function uploadBody(
  shape: Shape,
  isInputOptional: boolean,
  otherFields: readonly string[],
  rest: RestMeta,
): OperationBody | undefined {
  const bytesProperty = Object.entries(shape).find(([, schema]) => bytesKind(schema));
  if (bytesProperty === undefined) return undefined;
  const [field, schema] = bytesProperty;
  const other = Object.keys(shape).find((name) => name !== field);
  if (other !== undefined) {
    reject(`"${field}" is the whole body, so "${other}" cannot be in it; declare in: { ${other}: "query" }`);
  }
  const isAbsent = isInputOptional || acceptsUndefined(schema);
  return { ...bytesBody(schema, field, isAbsent, rest), shape, otherFields };
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
  const { contentTypes = [octetStreamType] } = rest;
  const parsedType = contentTypes.find((type) => supportedTypes.includes(type));
  if (parsedType !== undefined) {
    reject(
      `its body is bytes, which ${parsedType} does not support; remove contentTypes, or list binary media types`,
    );
  }
  const invalid = contentTypes.find((type) => !mediaTypePattern.test(type));
  if (invalid !== undefined) {
    reject(
      `its content type ${JSON.stringify(invalid)} is not valid; write a media type in lower case and without parameters, such as image/png`,
    );
  }
  return {
    ...newBody(rest, contentTypes, !isOptionalBody),
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
