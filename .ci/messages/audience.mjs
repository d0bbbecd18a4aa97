/**
 * The reader of a message: the client of a service, the reader of its OpenAPI document, the author of a router and its options,
 * or the operator, in a terminal, a log or metrics.
 *
 * @typedef {'client' | 'document' | 'author' | 'operator'} Audience
 */

/**
 * By the file: the first that matches.
 *
 * @type {[RegExp, Audience][]}
 */
const byFile = [
  [
    /gateway\/src\/openapi\/(?:document|documentedResponses|errorFormat|parameterStyle|deprecation)\.ts$/,
    'document',
  ],
  [
    /gateway\/src\/(?:openapi\/|requireOptions|http\/unknownOptions|http\/formatValue|procedures\/(?:restMeta|declare|read))/,
    'author',
  ],
  [/gateway\/src\/(?:policies\/schemes\/options|protocols\/rest\/responseMeta)\.ts$/, 'author'],
  [/gateway\/src\/adapters\/(?:server\/(?:listenError|tlsFiles)|uws\/addon)\.ts$/, 'operator'],
  [/gateway\/src\/(?:procedures\/selfTest|policies\/tokenBuckets)\.ts$/, 'operator'],
  [/^packages\/gateway\//, 'client'],
  [/^packages\/core\/src\/procedures\//, 'client'],
  [/^packages\/core\/src\/store\/(?:collection|record)\.ts$/, 'author'],
  [/^packages\/runtime\/src\/(?:checkRunOptions|log\/log|run)\.ts$/, 'author'],
  [/^packages\/(?:core|runtime)\//, 'operator'],
  [/^packages\/(?:typegen|types)\//, 'author'],
  [/^apps\/server\/src\/authenticate\.ts$/, 'client'],
  [/^apps\/server\/src\/service\.ts$/, 'document'],
  [/^apps\/server\//, 'operator'],
];

/** Errors about a mistake in the code around the gateway. Clients see an internal error instead. */
const mistakes = /^(?:GatewayError|TypegenError|TypeError|RangeError|Unservable)$/;
const isOfCode =
  /^packages\/gateway\/src\/(?!client\/|protocols\/trpc\/|policies\/(?:tokenBuckets|schemes\/keySet)\.ts)/;

/** Texts of the OpenAPI document: descriptions of schemas and fields, and of responses by their status. */
const described = /^(?:description|summary|successDescription|[45]\d\d)$/;
const isDescribed = /^packages\/(?:gateway\/src\/(?!procedures\/restMeta)|core\/)/;

/** @returns {Audience} */
export function audienceOf(file, ancestors) {
  for (const { type, callee, key } of ancestors.toReversed()) {
    if (type === 'NewExpression') {
      if (mistakes.test(callee.name)) return 'author';
      if (/^(?:Error|DOMException)$/.test(callee.name) && isOfCode.test(file)) return 'author';
    }
    if (/^(?:log|console)$/.test(callee?.object?.name)) return 'operator';
    if (type === 'Property' && isDescribed.test(file) && described.test(key.name ?? key.value))
      return 'document';
  }
  const [, audience] = byFile.find(([pattern]) => pattern.test(file)) ?? [];
  if (audience === undefined) throw new Error(`audience.mjs has no rule for ${file}.`);
  return audience;
}
