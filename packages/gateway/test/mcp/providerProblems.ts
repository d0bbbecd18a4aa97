/** What models read of a tool. */
interface ProvidedTool {
  readonly name: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The keywords that a provider rejects at the top of the schema of a tool. */
export const combinators = ['$ref', 'allOf', 'anyOf', 'const', 'enum', 'if', 'not', 'oneOf'];

/** The most of an OpenAI schema with `strict`, the only sizes that a provider publishes. */
const most = { properties: 5000, levels: 10, characters: 120_000, enumValues: 1000 };

/**
 * Returns what the APIs of Anthropic, OpenAI and Gemini reject in a tool, or cannot read: a sentence for each problem.
 *
 * The rules are of November 2026, from copies of the providers' references, and from issues that quote errors of the APIs:
 * - Names have letters, digits, "_" and "-", at most 64; for Gemini also ".", and no digit first.
 *   Anthropic: https://schemas.apis.io/schemas/claude/claude-tool/
 *   OpenAI: https://v03.api.js.langchain.com/interfaces/_langchain_openai.OpenAIClient.FunctionDefinition.html
 *   Gemini: https://googleapis.github.io/js-genai/release_docs/interfaces/types.FunctionDeclaration.html
 * - The top is an object. Anthropic: without `oneOf`, `allOf`, `anyOf`, and valid in draft 2020-12. OpenAI: with `properties`,
 *   and without `oneOf`, `anyOf`, `allOf`, `enum`, `const`, `not`.
 *   https://github.com/anthropics/claude-code/issues/657, https://github.com/anthropics/claude-code/issues/586,
 *   https://github.com/openai/openai-agents-python/issues/449, https://github.com/CherryHQ/stella/issues/781
 * - Names of properties. Anthropic, at the top: letters, digits, "_", ".", "-", at most 64. Gemini: letters, digits, "_", no
 *   digit first, at most 64 (as names). https://github.com/beautyfree/appstore-connect-mcp/issues/2
 * - No list of types for Gemini. https://github.com/zed-industries/zed/issues/53919
 * - `$ref` to `$defs` of the schema, for Gemini with only `description` and `default` beside it.
 *   https://jsonschemaprofiles.unitvectorylabs.com/schemas/openai, https://github.com/GetStream/Vision-Agents/pull/513,
 *   https://github.com/anomalyco/opencode/issues/12295
 * - Recursion: for Gemini not by required properties alone. https://github.com/juspay/juspay-mcp/pull/132,
 *   https://github.com/Effect-TS/effect/releases/tag/@effect%2Fai-anthropic@4.1.2
 * - With `strict`, OpenAI: the sizes above. Anthropic: no recursion, and `$ref` only within the schema.
 *   https://git.waymay.us/zhongwei/gh-cskiro-claudex-api-tools/src/branch/master/skills/json-outputs-implementer/reference/schema-limitations.md
 */
export function providerProblems({ name, inputSchema }: ProvidedTool): readonly string[] {
  const problems: string[] = [];
  const check = (isValid: boolean, sentence: string) =>
    void (isValid || problems.push(`${name}: ${sentence}`));
  check(/^[a-zA-Z_][\w-]{0,63}$/.test(name), 'the name is not 1 to 64 letters, digits, "_" and "-"');
  check(inputSchema['type'] === 'object', 'the type at the top is not "object"');
  check(isObject(inputSchema['properties']), 'the top has no properties');
  for (const keyword of combinators) check(!(keyword in inputSchema), `${keyword} is at the top`);
  const size = { properties: 0, levels: 0, characters: 0, enumValues: 0 };
  const definitions = isObject(inputSchema['$defs']) ? inputSchema['$defs'] : {};
  const read = (schema: unknown, level: number): void => {
    if (Array.isArray(schema)) return schema.forEach((each) => read(each, level));
    if (!isObject(schema)) return;
    size.levels = Math.max(size.levels, level);
    checkReference(schema, definitions, check);
    check(!('$schema' in schema), '$schema is of no use to a model, and Gemini rejects it');
    const values = Array.isArray(schema['enum'])
      ? schema['enum']
      : 'const' in schema
        ? [schema['const']]
        : [];
    size.enumValues += values.length;
    size.characters += values.reduce<number>((sum, value) => sum + String(value).length, 0);
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'properties' && isObject(value)) {
        for (const [key, property] of Object.entries(value)) {
          check(
            /^[\w.-]{1,64}$/.test(key),
            `the property "${key}" is not 1 to 64 letters, digits, "_", "." and "-"`,
          );
          size.properties += 1;
          size.characters += key.length;
          read(property, level + 1);
        }
      } else if (keyword === '$defs' && isObject(value)) {
        for (const definition of Object.values(value)) read(definition, level);
      } else if (!['const', 'default', 'enum', 'examples'].includes(keyword)) {
        read(value, level);
      }
    }
  };
  read(inputSchema, 0);
  for (const key of Object.keys(isObject(inputSchema['properties']) ? inputSchema['properties'] : {})) {
    check(/^[a-zA-Z_]\w{0,63}$/.test(key), `the property "${key}" is not 1 to 64 letters, digits and "_"`);
  }
  for (const definition of Object.keys(definitions)) {
    check(
      !isEndless(definition, definitions),
      `${definition} contains itself in properties that are required`,
    );
  }
  for (const [what, limit] of Object.entries(most)) {
    const found = size[what as keyof typeof most];
    check(found <= limit, `it has ${found} ${what}; ${limit} are possible`);
  }
  return problems;
}

/** Whether a definition leads to itself by required properties alone, without a list or an absent value between. */
function isEndless(name: string, definitions: JsonObject, seen = new Set<string>()): boolean {
  const reads = (schema: unknown): boolean => {
    if (Array.isArray(schema)) return schema.some((each) => reads(each));
    if (!isObject(schema)) return false;
    const { allOf, anyOf, oneOf, properties, required } = schema;
    const [, target] = /^"#\/\$defs\/(.*)"$/.exec(JSON.stringify(schema['$ref']) ?? '') ?? [];
    if (target === name) return true;
    if (target !== undefined && !seen.has(target)) {
      seen.add(target);
      if (reads(definitions[target])) return true;
    }
    const members = [anyOf ?? oneOf ?? []].flat();
    const isNullable = members.some((member) => isObject(member) && member['type'] === 'null');
    const names = Array.isArray(required) ? (required as readonly string[]) : [];
    const needed = isObject(properties) ? names.map((key) => properties[key]) : [];
    return reads(allOf) || (!isNullable && reads(members)) || reads(needed);
  };
  return reads(definitions[name]);
}

/** A reference leads to a definition of the same tool, and has only a description and a default beside it. */
function checkReference(
  schema: JsonObject,
  definitions: JsonObject,
  check: (isValid: boolean, sentence: string) => void,
): void {
  if (!('$ref' in schema)) return;
  const reference = JSON.stringify(schema['$ref']);
  const [, target = ''] = /^"#\/\$defs\/([\w.-]+)"$/.exec(reference) ?? [];
  check(target in definitions, `${reference} is no definition of the tool`);
  const beside = Object.keys(schema).filter((key) => !['$ref', 'default', 'description'].includes(key));
  check(beside.length === 0, `beside ${reference} is ${beside.join(', ')}`);
}
