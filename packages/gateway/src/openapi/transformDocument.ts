import type { oas31 } from 'zod-openapi';
import { GatewayError } from '../procedures/gatewayError.ts';
import type { OpenApiDocument } from './openApiDocument.ts';
import type { Operation } from '../operations/operation.ts';
import { documentPath } from '../operations/pathTemplate.ts';

interface Transforms {
  readonly operations: readonly Operation[];
  readonly document: { readonly transform?: (document: oas31.OpenAPIObject) => oas31.OpenAPIObject };
}

/**
 * Applies the `document` function of each operation's metadata, then `document.transform`.
 * @throws {GatewayError} if one of them returns `undefined`
 */
export function transformDocument(
  document: OpenApiDocument,
  { operations, ...options }: Transforms,
): OpenApiDocument {
  const { transform } = options.document;
  const paths = document['paths'] as Record<string, Record<string, unknown>>;
  for (const { procedure, rest } of operations) {
    if (rest.document === undefined) continue;
    const path = documentPath(rest.path);
    const item = paths[path] ?? {};
    const names = rest.method === 'QUERY' ? ['query', 'x-query'] : [rest.method.toLowerCase()];
    const name = names.find((each) => each in item) ?? '';
    const changed = rest.document(item[name] as oas31.OperationObject);
    if ((changed as unknown) === undefined) {
      throw new GatewayError(
        `Procedure "${procedure.path}" has a document function that returned undefined. Return the operation, or null to leave it out of the document.`,
      );
    }
    if (changed === null) delete item[name];
    else item[name] = changed;
    if (Object.keys(item).length === 0) delete paths[path];
  }
  if (transform === undefined) return document;
  const changed = transform(document as unknown as oas31.OpenAPIObject) as unknown;
  if (changed === undefined) {
    throw new GatewayError('document.transform returned undefined. Return the document.');
  }
  return changed as OpenApiDocument;
}
