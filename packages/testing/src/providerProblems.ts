/** What models read of a tool. */
interface ProvidedTool {
  readonly name: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

type JsonObject = Readonly<Record<string, unknown>>;
type Check = (isValid: boolean, sentence: string) => void;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The keywords that a provider rejects at the top of the schema of a tool. */
export const combinators = ['$ref', 'allOf', 'anyOf', 'const', 'enum', 'if', 'not', 'oneOf'];

/**
 * Returns what the APIs of Anthropic, OpenAI and Gemini reject in a tool: a sentence for each problem. The rules are of November
 * 2026, from copies of the providers' references, and from issues that quote errors of the APIs.
 */
export const providerProblems = (tool: ProvidedTool): readonly string[] => [
  ...anthropicProblems(tool),
  ...openAiProblems(tool),
  ...geminiProblems(tool),
];

/**
 * - Names have letters, digits, "_" and "-", at most 64. https://schemas.apis.io/schemas/claude/claude-tool/
 * - The top is an object without `oneOf`, `allOf`, `anyOf`, and its properties have letters, digits, "_", ".", "-", at most 64.
 *   https://github.com/anthropics/claude-code/issues/657, https://github.com/beautyfree/appstore-connect-mcp/issues/2
 * - Draft 2020-12, whose `items` is one schema. https://github.com/anthropics/claude-code/issues/586
 */
export function anthropicProblems(tool: ProvidedTool): readonly string[] {
  return problemsOf('Anthropic', tool, /^[\w-]{1,64}$/, ({ schemas, top }, check) => {
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) check(!(keyword in top), `${keyword} is at the top`);
    for (const key of keysOf(top['properties']))
      check(
        /^[\w.-]{1,64}$/.test(key),
        `the property "${key}" is not 1 to 64 letters, digits, "_", "." and "-"`,
      );
    for (const { at, schema } of schemas) check(!Array.isArray(schema['items']), `${at} has a list of items`);
  });
}

/** The most of a schema with `strict`, the only sizes that a provider publishes. */
const most = { properties: 5000, levels: 10, characters: 120_000, values: 1000 };

/**
 * - Names have letters, digits, "_" and "-", at most 64.
 *   https://v03.api.js.langchain.com/interfaces/_langchain_openai.OpenAIClient.FunctionDefinition.html
 * - The top is an object with `properties`, and without combinators. https://github.com/openai/openai-agents-python/issues/449,
 *   https://github.com/CherryHQ/stella/issues/781
 * - An array has `items`. https://github.com/apify/apify-mcp-server/issues/36, https://github.com/AnswerDotAI/fastcore/issues/798
 * - With `strict`, which clients set by themselves (https://github.com/posit-dev/chatlas/pull/255): nine formats
 *   (https://github.com/cyanheads/git-mcp-server/issues/47), a type of each value (https://github.com/1jehuang/jcode/issues/713), no
 *   `oneOf`, and the sizes above (https://jsonschemaprofiles.unitvectorylabs.com/schemas/openai). Clients add what is left:
 *   `additionalProperties: false` and `required` of all (https://github.com/spring-projects/spring-ai/pull/6865).
 */
export function openAiProblems(tool: ProvidedTool): readonly string[] {
  return problemsOf('OpenAI', tool, /^[\w-]{1,64}$/, ({ schemas, top }, check) => {
    check(isObject(top['properties']), 'the top has no properties');
    for (const keyword of combinators) check(!(keyword in top), `${keyword} is at the top`);
    for (const { at, schema } of schemas) {
      check(schema['type'] !== 'array' || 'items' in schema, `${at} is an array without items`);
      check(!('oneOf' in schema), `${at} has oneOf`);
      check(hasType(schema), `${at} has no type`);
      const { format } = schema;
      const isKnown = /^(?:date-time|time|date|duration|email|hostname|ipv4|ipv6|uuid)$/.test(String(format));
      check(format === undefined || isKnown, `${at} has the format ${String(format)}`);
    }
    const properties = schemas.flatMap(({ schema }) => keysOf(schema['properties']));
    const values = schemas.flatMap(({ schema }) => (schema['enum'] ?? []) as readonly unknown[]);
    const size = {
      properties: properties.length,
      levels: Math.max(...schemas.map(({ level }) => level)),
      characters: [...properties, ...values].reduce<number>((sum, each) => sum + String(each).length, 0),
      values: values.length,
    };
    for (const [what, limit] of Object.entries(most)) {
      const found = size[what as keyof typeof most];
      check(found <= limit, `it has ${found} ${what}; ${limit} are possible`);
    }
  });
}

/** The keywords of Gemini's `Schema`, and those of references, which clients resolve or send as `parametersJsonSchema`. */
const geminiKeywords =
  /^(?:type|format|title|description|nullable|enum|items|properties|required|anyOf|default|example|propertyOrdering|(?:min|max)(?:imum|Items|Length|Properties)|pattern|\$ref|\$defs)$/;

/**
 * Clients leave out the keywords that Gemini does not know, since each is an error (https://github.com/diegosouzapw/OmniRoute/issues/12871,
 * https://github.com/adolfousier/opencrabs/issues/99), or send all as `parametersJsonSchema`, which ignores them
 * (https://github.com/googleapis/python-genai/issues/1093). Of what is left:
 * - Names have letters, digits, "_", "-" and ".", no digit first, at most 64; of properties without "-" and ".".
 *   https://googleapis.github.io/js-genai/release_docs/interfaces/types.FunctionDeclaration.html
 * - One type, not a list: https://github.com/zed-industries/zed/issues/53919, https://github.com/voocel/litellm/issues/9
 * - A type of each value: https://github.com/google-gemini/gemini-cli/issues/6632, https://github.com/danny-avila/LibreChat/issues/6971
 * - `items` of an array: https://github.com/DEEIX-AI/DEEIX-Chat/issues/546
 * - `enum` of texts alone, none of them empty, and no other constant, which clients write as `enum`:
 *   https://github.com/anomalyco/opencode/pull/28412, https://github.com/lobehub/lobehub/pull/15952,
 *   https://github.com/danny-avila/LibreChat/pull/11784
 * - Nothing beside `anyOf`, on Vertex AI: https://github.com/anomalyco/opencode/issues/15795, https://github.com/google/adk-go/pull/1085
 * - Required properties are defined, and only of objects: https://github.com/goruck/home-generative-agent/pull/525
 * - Only `description` and `default` beside `$ref`: https://github.com/su-kaka/gcli2api/pull/374,
 *   https://github.com/anomalyco/opencode/issues/12295
 * - Recursion not by required properties alone: https://github.com/juspay/juspay-mcp/pull/132
 */
export function geminiProblems(tool: ProvidedTool): readonly string[] {
  return problemsOf('Gemini', tool, /^[a-zA-Z_][\w.-]{0,63}$/, ({ definitions, schemas, top }, check) => {
    for (const { at, schema: whole } of schemas) {
      const schema = Object.fromEntries(
        Object.entries(whole).filter(([keyword]) => geminiKeywords.test(keyword)),
      );
      const { $ref, anyOf, enum: values = [], items, properties, required = [], type } = schema;
      const beside = (...names: readonly string[]) => keysOf(schema).filter((name) => !names.includes(name));
      check(!Array.isArray(type), `${at} has a list of types`);
      check(hasType(schema), `${at} has no type`);
      check(type !== 'array' || isObject(items), `${at} is an array without items`);
      check(!('const' in whole), `${at} has const`);
      for (const value of values as readonly unknown[]) {
        const isText = type === 'string' && typeof value === 'string' && value !== '';
        check(isText, `${at} has the value ${JSON.stringify(value)}`);
      }
      check(!anyOf || beside('anyOf').length === 0, `beside anyOf of ${at} is ${beside('anyOf').join(', ')}`);
      const others = beside('$ref', 'default', 'description');
      check(!$ref || others.length === 0, `beside ${String($ref)} is ${others.join(', ')}`);
      const name = String($ref).replace('#/$defs/', '');
      check(!$ref || Object.hasOwn(definitions, name), `${String($ref)} is no definition of the tool`);
      for (const key of required as readonly string[])
        check(keysOf(properties).includes(key), `the required property "${key}" of ${at} is not defined`);
    }
    for (const key of keysOf(top['properties']))
      check(/^[a-zA-Z_]\w{0,63}$/.test(key), `the property "${key}" is not 1 to 64 letters, digits and "_"`);
    for (const name of keysOf(definitions))
      check(!isEndless(name, definitions), `${name} contains itself in properties that are required`);
  });
}

const keysOf = (value: unknown): readonly string[] => (isObject(value) ? Object.keys(value) : []);
const hasType = ({ $ref, allOf, anyOf, not, oneOf, type }: JsonObject): boolean =>
  [$ref, allOf, anyOf, not, oneOf, type].some((each) => each !== undefined);

/** A schema of a tool, or one in it. */
interface Part {
  readonly schema: JsonObject;
  readonly at: string;
  readonly level: number;
}

interface ReadTool {
  readonly top: JsonObject;
  readonly definitions: JsonObject;
  readonly schemas: readonly Part[];
}

function problemsOf(
  provider: string,
  { inputSchema: top, name }: ProvidedTool,
  names: RegExp,
  find: (tool: ReadTool, check: Check) => void,
): readonly string[] {
  const problems: string[] = [];
  const check: Check = (isValid, sentence) =>
    void (isValid || problems.push(`${provider}, ${name}: ${sentence}`));
  check(names.test(name), 'the name has other characters, or more');
  check(top['type'] === 'object', 'the type at the top is not "object"');
  check(!('$schema' in top), '$schema is of no use to a model');
  const definitions = isObject(top['$defs']) ? top['$defs'] : {};
  const schemas: Part[] = [];
  const read = (schema: unknown, at: string, level: number): void => {
    if (!isObject(schema)) return;
    schemas.push({ schema, at, level });
    for (const [keyword, value] of Object.entries(schema)) {
      const isMap = /^(?:\$defs|patternProperties|properties)$/.test(keyword) && isObject(value);
      const isSchema = /^(?:additionalProperties|allOf|anyOf|contains|items|oneOf|prefixItems)$/.test(
        keyword,
      );
      const below = keyword === '$defs' ? level : level + 1;
      for (const [key, each] of isMap ? Object.entries(value) : []) read(each, `"${key}"`, below);
      if (isSchema)
        [value]
          .flat()
          .forEach((each) => read(each, `${keyword} of ${at}`, keyword === 'anyOf' ? level : below));
    }
  };
  read(top, 'the top', 0);
  find({ top, definitions, schemas }, check);
  return [...new Set(problems)];
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
