import type { oas31 } from 'zod-openapi';
import type { Parameter } from '../operations/parameter.ts';
import { isNested } from '../operations/queryTree.ts';

/**
 * Returns the name and the place (`in`) of a parameter in the document. The name of a list ends in `[]`, as in a URL.
 */
export function parameterName(parameter: Parameter): Pick<oas31.ParameterObject, 'name' | 'in'> {
  const { in: where, name } = parameter.place;
  const isList = parameter.style === 'tree' && parameter.tree.kind === 'list' && !isNested(parameter.tree);
  return { name: isList ? `${name}[]` : name, in: where as oas31.ParameterLocation };
}

/**
 * Returns the style and the description of a parameter in the document, as far as they differ from OpenAPI's defaults.
 */
export function parameterStyle(
  parameter: Parameter,
  documented: oas31.ParameterObject,
): Partial<oas31.ParameterObject> {
  const { description } = documented;
  const described = (note: string) => ({
    description: description === undefined ? note : `${description} ${note}`,
  });
  if (parameter.style === 'rest') {
    return described('The rest of the path, which may contain slashes (RFC 6570 `{+path}`).');
  }
  if (parameter.style === 'single') return {};
  const schema = notEmpty(parameter, documented);
  if (parameter.style !== 'tree') {
    const isQuery = parameter.style === 'comma' && parameter.place.in === 'query';
    return isQuery ? { ...schema, style: 'form', explode: false } : schema;
  }
  const { tree, place } = parameter;
  if (tree.kind === 'list' && !isNested(tree)) return { ...schema, style: 'form', explode: true };
  return {
    ...schema,
    // OpenAPI 3.1 defines deepObject for the scalar properties of one object (§4.8.12.4), and no style for a list of
    // objects. With deepObject on a list, the client that hey-api 0.99 generates does not compile.
    ...(tree.kind === 'object' && { style: 'deepObject', explode: true }),
    ...(isNested(tree) &&
      described(`Nested values continue in brackets: \`${example(place.name, tree)}=…\`.`)),
  };
}

/** Requires one item in a required list or object, because a query cannot express an empty one. */
function notEmpty(
  parameter: Parameter,
  { required, schema }: oas31.ParameterObject,
): Partial<oas31.ParameterObject> {
  if (required !== true || schema === undefined) return {};
  const isObject = parameter.style === 'tree' && parameter.tree.kind === 'object';
  const least = isObject ? { minProperties: 1 } : { minItems: 1 };
  return { schema: { ...least, ...schema } };
}

/** Returns an example name of a nested value: `filter[range][min]`. */
function example(name: string, node: Extract<Parameter, { style: 'tree' }>['tree'], depth = 0): string {
  if (node.kind === 'value' || depth > 3) return name;
  if (node.kind === 'list') return example(`${name}[0]`, node.item, depth + 1);
  const entries = [...node.fields, ...(node.others ? [['name', node.others] as const] : [])];
  const [key, inner] = entries.find(([, { kind }]) => kind !== 'value') ?? entries[0] ?? ['name', undefined];
  return inner ? example(`${name}[${key}]`, inner, depth + 1) : name;
}
