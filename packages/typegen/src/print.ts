import type { Comment, Member, TypeNode } from './typeNode.ts';

const maxInlineWidth = 100;

/** Prints a type as TypeScript source. @param indent the indentation of each line after the first */
export function print(type: TypeNode, indent = ''): string {
  switch (type.kind) {
    case 'token':
    case 'raw':
      return type.text;
    case 'reference':
      return type.to.name();
    case 'generic':
      return `${type.name}<${type.arguments.map((each) => print(each, indent)).join(', ')}>`;
    case 'array':
      return `${type.readonly ? 'readonly ' : ''}${printOperand(type.element, indent)}[]`;
    case 'tuple':
      return `${type.readonly ? 'readonly ' : ''}[${tupleItems(type, indent).join(', ')}]`;
    case 'union':
      return type.members
        .map((each) => printOperand(each, indent, ['intersection', 'array', 'tuple']))
        .join(' | ');
    case 'intersection':
      return type.members.map((each) => printOperand(each, indent)).join(' & ');
    case 'template':
      return `\`${type.parts.map((part) => (typeof part === 'string' ? templateText(part) : `\${${print(part)}}`)).join('')}\``;
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

/** Prints a doc comment with indentation and a trailing newline, or an empty string if the comment is empty. */
export function printComment({ text, deprecated }: Comment, indent: string): string {
  const lines = (text ?? '').split('\n').map((line) => line.trimEnd());
  const contentLines = lines.some((line) => line !== '') ? lines : [];
  if (deprecated)
    contentLines.push(typeof deprecated === 'string' ? `@deprecated ${deprecated}` : '@deprecated');
  const safe = contentLines.map((line) => line.replaceAll('*/', String.raw`*\/`));
  if (safe.length === 0) return '';
  if (safe.length === 1) return `${indent}/** ${safe[0]} */\n`;
  return `${indent}/**\n${safe.map((line) => `${indent} *${line && ` ${line}`}\n`).join('')}${indent} */\n`;
}

/** Prints a property name, quoted if it is not an identifier. */
export function propertyName(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : quoteString(name);
}

/** Prints a string literal. */
export function quoteString(text: string): string {
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
  if (!hasComments && inline.length <= maxInlineWidth - indent.length && !inline.includes('\n'))
    return inline;
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
    item.optional ? `${printOperand(item.type, indent)}?` : print(item.type, indent),
  );
  return type.rest ? [...items, `...${printOperand(type.rest, indent)}[]`] : items;
}

/** Prints a type where an operator binds more tightly than `|`, in parentheses if necessary. */
function printOperand(
  type: TypeNode,
  indent: string,
  unparenthesized: readonly TypeNode['kind'][] = [],
): string {
  const text = print(type, indent);
  const needsParentheses =
    type.kind === 'union' ||
    type.kind === 'intersection' ||
    type.kind === 'raw' ||
    ((type.kind === 'array' || type.kind === 'tuple') && type.readonly === true);
  return needsParentheses && !unparenthesized.includes(type.kind) ? `(${text})` : text;
}

const templateText = (text: string) =>
  text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('`', '\\`')
    .replaceAll('${', '\\${')
    .replaceAll('\n', String.raw`\n`);
