import type { z } from 'zod';
import type { Header } from '../http/response.ts';
import type { RestMeta } from '../procedures/meta.ts';
import { inspectJson } from './jsonable.ts';
import { formParameter, type TextParameter } from './parameter.ts';
import { reject } from './unservable.ts';
import { isFileStream } from '../procedures/fileStream.ts';
import { bytesKind, uploadLimits, type OperationUpload } from './uploadInput.ts';
import { isOptional, type Shape } from './zodSchema.ts';

/** What a body carries. */
export interface OperationBody {
  readonly contentTypes: readonly string[];
  /** Whether a property is required. Where none is, the body may be left out. */
  readonly required: boolean;
  /** Its properties. */
  readonly shape: Shape;
  /** The schema of the JSON value that is the whole input; `undefined` where the body is an object of properties. */
  readonly whole: z.core.$ZodType | undefined;
  /** Whether the body is the whole input. */
  readonly isWhole: boolean;
  /** The bytes that the body is; `undefined` where it has properties. */
  readonly upload: OperationUpload | undefined;
  /** Whether the properties are those of a union of objects. */
  readonly isUnion: boolean;
  /** The properties of the input that travel elsewhere, and are ignored in a body. */
  readonly elsewhere: readonly string[];
  /** The properties that hold dates, which JSON carries as text. */
  readonly dates: readonly string[];
  /** The fields of a form, which are texts and files; empty where the body is none. */
  readonly fields: ReadonlyMap<string, TextParameter>;
  /** Whether it is `multipart/form-data` alone, which carries files. */
  readonly isMultipart: boolean;
  /** Headers that list its media types, in answers to OPTIONS and in 415: `Accept-Query`, or `Accept-Patch` of a merge patch. */
  readonly accepts: readonly Header[];
}

const octets = 'application/octet-stream';
const json = 'application/json';
const mergePatch = 'application/merge-patch+json';
const form = 'application/x-www-form-urlencoded';
const multipart = 'multipart/form-data';
const supported = [json, form, multipart, mergePatch];

/** A type and a subtype (RFC 9110 §8.3.1), as those of requests are compared: their case has no meaning. */
const mediaType = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/;

/** Whether a body of a media type is JSON. */
export const isJson = (type: string): boolean => type === json || type === mergePatch;

interface BodyContext {
  readonly rest: RestMeta;
  readonly isInputOptional: boolean;
  readonly isUnion: boolean;
  readonly elsewhere: readonly string[];
}

/**
 * The body of an object's properties.
 * @returns `undefined` where there are none
 * @throws {Unservable}
 */
export function operationBody(
  shape: Shape,
  { rest, isInputOptional, isUnion, elsewhere }: BodyContext,
): OperationBody | undefined {
  const upload = uploadBody(shape, isInputOptional, elsewhere, rest);
  if (upload) return upload;
  const files = fileStreamOf(shape, rest);
  const { contentTypes = [files === undefined ? json : multipart] } = rest;
  if (contentTypes.length === 0) {
    reject(
      `its contentTypes is an empty list; name at least one of ${supported.join(', ')}, or leave it out (${json})`,
    );
  }
  const all = Object.entries(shape);
  if (all.length === 0) return undefined;
  const properties = all.filter(([name]) => name !== files);
  const unsupported = contentTypes.find((type) => !supported.includes(type));
  if (unsupported !== undefined) {
    reject(`its content type ${unsupported} is not one of ${supported.join(', ')}`);
  }
  if (contentTypes.includes(mergePatch) && rest.method !== 'PATCH') {
    reject(
      `its content type ${mergePatch} is one of PATCH alone (RFC 7396), and its method is ${rest.method}`,
    );
  }
  const dates = contentTypes.some(isJson)
    ? properties.filter(([name, schema]) => {
        const { problem, hasDate } = inspectJson(schema, 'input');
        return problem === undefined ? hasDate : reject(`in its body, "${name}": ${problem}`);
      })
    : [];
  const isMultipart = contentTypes.every((type) => type === multipart);
  const fields = contentTypes.every(isJson)
    ? []
    : properties.map(([name, schema]) => formParameter(name, schema, isMultipart));
  const file = fields.find(({ converter }) => converter.isFile)?.field;
  if (files !== undefined && file !== undefined) {
    reject(`"${file}" is a file beside the fileStream() "${files}"; use one of them`);
  }
  const isSpooled = rest.upload?.spool === true && isMultipart && file !== undefined;
  // Problems with texts are named before those with files.
  const ordered = [...fields.filter(({ converter }) => !converter.isFile), ...fields];
  return {
    contentTypes,
    required:
      rest.method === 'QUERY' ||
      (!isInputOptional && (isUnion || all.some(([, schema]) => !isOptional(schema, 'input')))),
    shape,
    whole: undefined,
    isWhole: false,
    upload:
      files !== undefined || isSpooled
        ? { kind: isSpooled ? 'spool' : 'files', field: files, ...uploadLimits(rest) }
        : undefined,
    isUnion,
    elsewhere,
    dates: isUnion ? [] : dates.map(([name]) => name),
    fields: new Map(ordered.map((parameter) => [parameter.field, parameter])),
    isMultipart,
    accepts: acceptHeaders(rest.method, contentTypes),
  };
}

/**
 * The body that is the whole input: an array, a scalar, a record, or a union of those.
 * @throws {Unservable}
 */
export function wholeBody(
  whole: z.core.$ZodType,
  isInputOptional: boolean,
  { contentTypes = [json], method }: RestMeta,
): OperationBody {
  const other = contentTypes.find((type) => type !== json);
  if (other !== undefined) {
    reject(
      `its input is not a zod object, so ${other} has no names for it; use z.object(…), or ${json} alone`,
    );
  }
  const { problem } = inspectJson(whole, 'input');
  if (problem !== undefined) reject(`in its body, ${problem}`);
  return {
    contentTypes,
    required: !isInputOptional || method === 'QUERY',
    shape: {},
    whole,
    isWhole: true,
    upload: undefined,
    isUnion: false,
    elsewhere: [],
    dates: [],
    fields: new Map(),
    isMultipart: false,
    accepts: acceptHeaders(method, contentTypes),
  };
}

/** The property of a form that is the files which are streamed. */
function fileStreamOf(shape: Shape, { contentTypes = [multipart] }: RestMeta): string | undefined {
  const [files, other] = Object.keys(shape).filter((name) => isFileStream(shape[name]));
  if (files === undefined) return undefined;
  if (other !== undefined) {
    reject(`"${files}" and "${other}" are both fileStream(); use one for all files`);
  }
  if (contentTypes.some((type) => type !== multipart)) {
    reject(`"${files}" is a fileStream(), which ${multipart} alone can carry; list no other content type`);
  }
  return files;
}

/** The body whose only property is its bytes. */
function uploadBody(
  shape: Shape,
  isInputOptional: boolean,
  elsewhere: readonly string[],
  rest: RestMeta,
): OperationBody | undefined {
  const found = Object.entries(shape).find(([, schema]) => bytesKind(schema));
  if (found === undefined) return undefined;
  const [field, schema] = found;
  const other = Object.keys(shape).find((name) => name !== field);
  if (other !== undefined) {
    reject(`"${field}" is the whole body, so "${other}" has no place in it; say in: { ${other}: "query" }`);
  }
  const isAbsent = isInputOptional || isOptional(schema, 'input');
  return { ...bytesBody(schema, field, isAbsent, rest), shape, elsewhere };
}

/**
 * The body that is bytes: the whole input, or a property of it.
 * @throws {Unservable}
 */
export function bytesBody(
  parser: unknown,
  field: string | undefined,
  isOptionalBody: boolean,
  rest: RestMeta,
): OperationBody {
  const { contentTypes = [octets], method } = rest;
  const fielded = contentTypes.find((type) => supported.includes(type));
  if (fielded !== undefined) {
    reject(
      `its body is bytes, which ${fielded} cannot carry; leave contentTypes out, or name media types of bytes`,
    );
  }
  const invalid = contentTypes.find((type) => !mediaType.test(type));
  if (invalid !== undefined) {
    reject(
      `its content type ${JSON.stringify(invalid)} is not a media type that a request is compared with; write it in lower case and without parameters, such as image/png`,
    );
  }
  return {
    contentTypes,
    required: !isOptionalBody || method === 'QUERY',
    shape: {},
    whole: undefined,
    isWhole: field === undefined,
    upload: { kind: bytesKind(parser) ?? 'stream', field, ...uploadLimits(rest) },
    isUnion: false,
    elsewhere: [],
    dates: [],
    fields: new Map(),
    isMultipart: false,
    accepts: acceptHeaders(method, contentTypes),
  };
}

function acceptHeaders(method: RestMeta['method'], contentTypes: readonly string[]): readonly Header[] {
  const types = contentTypes.join(', ');
  // A list of tokens, as structured fields have it (RFC 10008 §3, RFC 9651 §3.3.4).
  if (method === 'QUERY') return [['accept-query', types]];
  // RFC 5789 §3.1
  return contentTypes.includes(mergePatch) ? [['accept-patch', types]] : [];
}
