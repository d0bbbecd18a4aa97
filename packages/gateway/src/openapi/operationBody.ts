import type { RestMeta } from '../procedures/meta.ts';
import { inspectJson } from './jsonable.ts';
import { reject } from './unservable.ts';
import { isOptional, type Shape } from './zodSchema.ts';

/** What a body carries: the properties that are not in the path. */
export interface OperationBody {
  readonly contentTypes: readonly string[];
  /** Whether a property is required. Where none is, the body may be left out. */
  readonly required: boolean;
  /** The properties that hold dates, which JSON carries as text. */
  readonly dates: readonly string[];
  /** Whether it may be a form, whose fields are texts. */
  readonly isForm: boolean;
  /** Whether it is `multipart/form-data` alone, which carries files. */
  readonly isMultipart: boolean;
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
  return {
    contentTypes,
    required: !isInputOptional && properties.some(([, schema]) => !isOptional(schema, 'input')),
    dates: dates.map(([name]) => name),
    isForm: contentTypes.some((type) => type !== json),
    isMultipart: contentTypes.every((type) => type === multipart),
  };
}
