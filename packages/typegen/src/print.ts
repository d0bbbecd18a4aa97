import type { Comment, Member, TypeNode } from './typeNode.ts';

const width = 100;

/** A type as TypeScript writes it, `indent` being what stands before each further line. */
export function print(type: TypeNode, indent = ''): string {
  switch (type.kind) {
    case 'word':
    case 'stated':
      return type.text;
    case 'reference':
      return type.to.name();
    case 'generic':
      return `${type.name}<${type.arguments.map((each) => print(each, indent)).join(', ')}>`;
    case 'array':
      return `${type.readonly ? 'readonly ' : ''}${operand(type.element, indent)}[]`;
    case 'tuple':
      return `${type.readonly ? 'readonly ' : ''}[${tupleItems(type, indent).join(', ')}]`;
    case 'union':
      return type.members
        .map((each) => operand(each, indent, ['intersection', 'array', 'tuple']))
        .join(' | ');
    case 'intersection':
      return type.members.map((each) => operand(each, indent)).join(' & ');
    case 'template':
      return `\`${type.parts.map((part) => (typeof part === 'string' ? templateText(part) : `\${${print(part)}}`)).join('')}\``;
    case 'function':
      return `(...args: ${print(type.arguments, indent)}) => ${print(type.result, indent)}`;
    case 'mapped': {
      const readonly = type.readonly ? 'readonly ' : '';
      const key = `[Key in ${print(type.key, indent)}]${type.optional ? '?' : ''}`;
      return `{ ${readonly}${key}: ${print(type.value, indent)} }`;
    }
    case 'index':
      return `{ ${type.readonly ? 'readonly ' : ''}[key: string]: ${print(type.value, indent)} }`;
    case 'object':
      return printObject(type, indent);
    default:
      return type satisfies never;
  }
}

/** A doc comment before `indent`ed text, with its line's end; nothing where there is nothing to say. */
export function printComment({ text, deprecated }: Comment, indent: string): string {
  const lines = (text ?? '').split('\n').map((line) => line.trimEnd());
  const said = lines.some((line) => line !== '') ? lines : [];
  if (deprecated) said.push(typeof deprecated === 'string' ? `@deprecated ${deprecated}` : '@deprecated');
  const safe = said.map((line) => line.replaceAll('*/', String.raw`*\/`));
  if (safe.length === 0) return '';
  if (safe.length === 1) return `${indent}/** ${safe[0]} */\n`;
  return `${indent}/**\n${safe.map((line) => `${indent} *${line && ` ${line}`}\n`).join('')}${indent} */\n`;
}

/** A property's name, quoted where it is not an identifier. */
export function propertyName(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : quoted(name);
}

/** A string literal's type. */
export function quoted(text: string): string {
  const inner = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`);
  return `'${inner.replaceAll('\u2028', String.raw`\u2028`).replaceAll('\u2029', String.raw`\u2029`)}'`;
}

function printObject(type: TypeNode & { readonly kind: 'object' }, indent: string): string {
  const inner = `${indent}  `;
  const members = type.members.map((member) => printMember(member, inner));
  if (members.length === 0) return '{}';
  const inline = `{ ${members.join('; ')} }`;
  const hasComments = type.members.some(({ comment }) => comment && printComment(comment, '') !== '');
  if (!hasComments && inline.length <= width - indent.length && !inline.includes('\n')) return inline;
  const lines = type.members.map(
    (member, at) => `${printComment(member.comment ?? {}, inner)}${inner}${members[at]};\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

function printMember({ name, type, optional, readonly }: Member, indent: string): string {
  return `${readonly ? 'readonly ' : ''}${propertyName(name)}${optional ? '?' : ''}: ${print(type, indent)}`;
}

function tupleItems(type: TypeNode & { readonly kind: 'tuple' }, indent: string): string[] {
  const items = type.items.map((item) =>
    item.optional ? `${operand(item.type, indent)}?` : print(item.type, indent),
  );
  return type.rest ? [...items, `...${operand(type.rest, indent)}[]`] : items;
}

/** A type in a place that binds closer than `|`. */
function operand(type: TypeNode, indent: string, bare: readonly TypeNode['kind'][] = []): string {
  const text = print(type, indent);
  const isLoose =
    type.kind === 'union' ||
    type.kind === 'intersection' ||
    type.kind === 'function' ||
    type.kind === 'stated' ||
    ((type.kind === 'array' || type.kind === 'tuple') && type.readonly === true);
  return isLoose && !bare.includes(type.kind) ? `(${text})` : text;
}

const templateText = (text: string) =>
  text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('`', '\\`')
    .replaceAll('${', '\\${')
    .replaceAll('\n', String.raw`\n`);
