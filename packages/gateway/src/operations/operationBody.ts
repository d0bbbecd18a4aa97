import type { Header } from '../http/response.ts';
import { collect, reject } from '../checks/gatewayError.ts';
import type { RestMeta } from '../procedures/meta.ts';
import { requireJson } from './inspectJson.ts';
import { byName, textParameter, withOthers, type ParameterMap, type TextParameter } from './parameter.ts';
import type { PlacedProperty } from './propertyPlaces.ts';
import { type Properties } from '../schemas/properties.ts';
import {
  acceptsUndefined,
  bytesKind,
  details,
  innermost,
  type BytesKind,
  type Schema,
  type Shape,
} from '../schemas/schema.ts';

export interface OperationBody {
  readonly contentTypes: readonly string[];
  /** Whether the body is required: at least one of its properties is. */
  readonly required: boolean;
  readonly shape: Shape;
  /** The schema of properties that the input does not name, if it is loose; `undefined` if they are ignored. */
  readonly others: Schema | undefined;
  /** Whether a property of the body is part of the input. */
  readonly isRead: (name: string) => boolean;
  readonly isWhole: boolean;
  /** The upload, if the body is bytes or has spooled files; `undefined` if it is parsed into properties. */
  readonly upload: OperationUpload | undefined;
  /** The properties of the input in other places. They are ignored in the body. */
  readonly otherFields: readonly string[];
  /** The fields of a form: strings and files. Empty if the body is not a form. */
  readonly fields: ParameterMap<TextParameter>;
  /** Headers that list the media types, for OPTIONS and 415: `Accept-Patch` for a merge patch. */
  readonly accepts: readonly Header[];
}

/** A body that the procedure receives as bytes or files instead of parsed fields. */
export interface OperationUpload {
  /** The type that the procedure accepts: a `ReadableStream`, a `Uint8Array`, a `Blob` or a form with spooled files. */
  readonly kind: BytesKind | 'spool';
  /** The property of the input; `undefined` if the upload is the whole input, or a form with spooled files. */
  readonly field: string | undefined;
  /** The largest body, in bytes; `undefined`: the gateway's `maxBodySize`. */
  readonly maxSize: number | undefined;
  readonly maxFileSize: number;
  readonly maxFiles: number;
}

const octetStreamType = 'application/octet-stream';
export const jsonContentType = 'application/json';
const mergePatchType = 'application/merge-patch+json';
export const formType = 'application/x-www-form-urlencoded';
export const multipartType = 'multipart/form-data';
const parsedTypes: readonly string[] = [jsonContentType, formType, multipartType, mergePatchType];

export const isJson = (type: string): boolean => type === jsonContentType || type === mergePatchType;

/** The parts of an input that are in the body: all of it, or the properties that are not in other places. */
export interface BodyInput {
  /** The whole input, if it has no named properties. */
  readonly whole: Schema | undefined;
  readonly properties: readonly PlacedProperty[];
  /** The whole input, if its unknown properties are in the body. */
  readonly loose: Properties | undefined;
  readonly otherFields: readonly string[];
  readonly isOptional: boolean;
  readonly isUnion: boolean;
  readonly isLenient: boolean;
}

interface BodyPart {
  /** `undefined` for the whole input. */
  readonly field: string | undefined;
  readonly schema: Schema;
}

/** Returns `undefined` if no part of the input is in the body. @throws {GatewayError} */
export function operationBody(input: BodyInput, rest: RestMeta): OperationBody | undefined {
  const { whole, properties, loose, otherFields, isOptional, isUnion, isLenient } = input;
  const parts: readonly BodyPart[] = whole ? [{ field: undefined, schema: whole }] : properties;
  if (parts.length === 0 && !loose) return undefined;
  const bytes = parts.find(({ schema }) => bytesKind(innermost(schema) ?? {}));
  const other = bytes && parts.find((part) => part !== bytes)?.field;
  if (other !== undefined) {
    reject(
      `"${bytes?.field}" is the whole body, so "${other}" cannot be in it; declare in: { ${other}: "query" }`,
    );
  }
  // A merge patch is for PATCH only (RFC 7396).
  const typesOfProperties = rest.method === 'PATCH' ? parsedTypes : parsedTypes.slice(0, -1);
  const isMultipart = whole?.[details]?.isForm;
  const supported = bytes ? octetStreamType : isMultipart ? multipartType : whole && jsonContentType;
  const contentTypes = bodyTypes(rest, supported ? [supported] : typesOfProperties, bytes !== undefined);
  if (contentTypes.some(isJson)) {
    collect([
      ...parts.map(
        ({ field, schema }) =>
          () =>
            requireJson(schema, 'body', field === undefined ? [] : [field], isLenient),
      ),
      () => loose?.others && requireJson(loose.others, 'other properties'),
    ]);
  }
  const canBeFile = contentTypes.every((type) => type === multipartType);
  const isForm = !bytes && !contentTypes.every(isJson);
  const canBeNull = contentTypes.some(isJson);
  const fields = collect(
    properties
      .filter(() => isForm)
      .map((each) => () => textParameter(each, { canBeFile, canBeNull, isLenient })),
  );
  const { maxSize, maxFileSize = Infinity, maxFiles = 100, spool } = rest.upload ?? {};
  const isSpooled = spool && fields.some(({ converter }) => converter.isFile);
  const kind = bytes ? bytesKind(innermost(bytes.schema) ?? {}) : isSpooled ? 'spool' : undefined;
  // Whether all properties of a union may be absent, only its schema knows.
  const isRequired =
    !isOptional &&
    ((isUnion && !bytes && parts.length > 0) || !parts.every(({ schema }) => acceptsUndefined(schema)));
  const shape = Object.fromEntries(properties.map(({ field, schema }) => [field, schema]));
  // Problems of text fields are reported before those of files.
  const sorted = fields.toSorted((one, two) => Number(one.converter.isFile) - Number(two.converter.isFile));
  const named = byName(sorted.map((parameter) => [parameter.field, parameter] as const));
  return {
    contentTypes,
    required: isRequired,
    shape,
    others: loose?.others,
    isRead: (name) =>
      Object.hasOwn(shape, name) || (loose !== undefined && !Object.hasOwn(loose.shape, name)),
    isWhole: whole !== undefined,
    upload: kind && { kind, field: bytes?.field, maxSize, maxFileSize, maxFiles },
    otherFields,
    fields: loose && isForm ? withOthers(named, loose, 'body', { canBeFile, canBeNull, isLenient }) : named,
    // RFC 5789 §3.1
    accepts: contentTypes.includes(mergePatchType) ? [['accept-patch', contentTypes.join(', ')]] : [],
  };
}

/** Returns media types; the first supported is the default. @throws {GatewayError} for an unsupported one */
function bodyTypes(
  { contentTypes }: RestMeta,
  supported: readonly string[],
  isBytes: boolean,
): readonly string[] {
  const isSupported = (type: string) =>
    isBytes ? mediaTypePattern.test(type) && !parsedTypes.includes(type) : supported.includes(type);
  const other = contentTypes?.find((type) => !isSupported(type));
  if (other !== undefined) {
    const fix = `${supported.join(', ')}${isBytes ? ' or another type of bytes, in lower case' : ''}`;
    reject(`its content type ${other} is not supported for its body; use ${fix}`);
  }
  return contentTypes ?? supported.slice(0, 1);
}

/** A media type without parameters (RFC 9110 §8.3.1), in lower case, because media types are case-insensitive. */
const mediaTypePattern = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/;
