import type { z } from 'zod';
import type { RestMeta } from '../procedures/meta.ts';
import { inspectJson } from './jsonable.ts';
import { reject } from './unservable.ts';
import { innermost, isOptional, type Shape } from './zodSchema.ts';

/** What a body carries: the properties that are not in the path. */
export interface OperationBody {
  readonly contentTypes: readonly string[];
  /** The properties that hold dates, which JSON carries as text. */
  readonly dates: readonly string[];
  /** Whether a property is required. Where none is, the body may be left out. */
  readonly required: boolean;
  /** The properties that a form sends as text; empty where no form is accepted. */
  readonly textNames: readonly string[];
  /** The files of a `multipart/form-data` body, and whether each may be repeated. */
  readonly files: ReadonlyMap<string, { readonly repeated: boolean }>;
}

const json = 'application/json';
const form = 'application/x-www-form-urlencoded';
const multipart = 'multipart/form-data';
const supported = [json, form, multipart];

/**
 * @returns `undefined` where there are no properties
 * @throws {Unservable}
 */
export function operationBody(
  shape: Shape,
  isInputOptional: boolean,
  { contentTypes = [json] }: RestMeta,
): OperationBody | undefined {
  if (contentTypes.length === 0) {
    reject(
      `its contentTypes is an empty list; name at least one of ${supported.join(', ')}, or leave it out (${json})`,
    );
  }
  const properties = Object.entries(shape);
  if (properties.length === 0) return undefined;
  const unsupported = contentTypes.find((type) => !supported.includes(type));
  if (unsupported !== undefined) {
    reject(`its content type ${unsupported} is not one of ${supported.join(', ')}`);
  }
  const dates = contentTypes.includes(json)
    ? properties.filter(([name, schema]) => {
        const { problem, hasDate } = inspectJson(schema, 'input');
        return problem === undefined ? hasDate : reject(`in its body, "${name}": ${problem}`);
      })
    : [];
  // Where one of the types cannot carry files, a file is a text field, whose converter rejects it with the reason.
  const files = contentTypes.every((type) => type === multipart) ? fileFields(properties) : new Map();
  const isForm = contentTypes.some((type) => type !== json);
  return {
    contentTypes,
    dates: dates.map(([name]) => name),
    required: !isInputOptional && properties.some(([, schema]) => !isOptional(schema, 'input')),
    textNames: isForm ? Object.keys(shape).filter((name) => !files.has(name)) : [],
    files,
  };
}

/** The properties that are files (`z.file()`), or arrays of files. */
function fileFields(properties: readonly (readonly [name: string, schema: z.core.$ZodType])[]) {
  const files = new Map<string, { readonly repeated: boolean }>();
  for (const [name, schema] of properties) {
    const def = innermost(schema)?._zod.def;
    const isFiles = def?.type === 'array' && innermost(def.element)?._zod.def.type === 'file';
    if (isFiles || def?.type === 'file') files.set(name, { repeated: isFiles });
  }
  return files;
}
