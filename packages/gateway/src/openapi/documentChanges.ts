import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument, type OpenApiRouter } from 'trpc-to-openapi';
import type { oas31 } from 'zod-openapi';
import type { OpenApiDocument } from './document.ts';

/**
 * Lists what changes for clients when the gateway replaces trpc-to-openapi: the differences between the document that
 * trpc-to-openapi generates for a router and the gateway's. Each line names an operation and its id, a parameter, a
 * media type of the body, or a response; `-` is in trpc-to-openapi's document only, `+` in the gateway's only. Schemas
 * are not compared.
 *
 * ```ts
 * for (const line of documentChanges(router, await gateway.document())) console.log(line);
 * // - GET /books/{id}: operationId books-byId
 * // + GET /books/{id}: operationId books.byId
 * ```
 * @throws {Error} if trpc-to-openapi does not support a procedure: compare before you use further metadata
 */
export function documentChanges(router: AnyTRPCRouter, document: OpenApiDocument): readonly string[] {
  const options = { title: '', version: '', baseUrl: '/' };
  const before = describe(generateOpenApiDocument(router as OpenApiRouter, options));
  const after = describe(document as unknown as oas31.OpenAPIObject);
  const removed = [...before].filter((line) => !after.has(line)).map((line) => `- ${line}`);
  const added = [...after].filter((line) => !before.has(line)).map((line) => `+ ${line}`);
  // By operation, and what is removed first.
  const operationOf = (line: string) => line.slice(2, line.indexOf(': '));
  return [...removed, ...added].toSorted((one, other) => operationOf(one).localeCompare(operationOf(other)));
}

/** Returns a line for each operation and for each of its parts. */
function describe({ paths = {} }: oas31.OpenAPIObject): ReadonlySet<string> {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, each]) => [`${method.toUpperCase()} ${path}`, each] as const),
  );
  return new Set(
    operations.flatMap(([name, each]) => {
      const { operationId, parameters = [], requestBody, responses = {} } = each as oas31.OperationObject;
      const body = requestBody as oas31.RequestBodyObject | undefined;
      return [
        `operationId ${operationId}`,
        ...(parameters as oas31.ParameterObject[]).map(
          (parameter) =>
            `${parameter.required ? 'required ' : ''}${parameter.in} parameter ${parameter.name}`,
        ),
        ...Object.keys(body?.content ?? {}).map((type) => `${body?.required ? 'required ' : ''}body ${type}`),
        ...Object.entries(responses).map(([status, { content = {} }]: [string, oas31.ResponseObject]) =>
          ['response', status, ...Object.keys(content)].join(' '),
        ),
      ].map((part) => `${name}: ${part}`);
    }),
  );
}
