/**
 * The words that this project does not use, each with the field's word for it. `npm run check:words` reports those that
 * are left.
 *
 * @typedef {object} Row
 * @property {string} word The heading of the table of counts.
 * @property {string} use What to write instead.
 * @property {string} [names] What may not be a part of a name: a pattern over its parts in lower case, as in `max body ms`.
 * @property {string} [wholeName] What may not be a name by itself.
 * @property {string} [prose] What may not stand in comments, strings and Markdown, whatever its case unless `matchCase`.
 * @property {boolean} [matchCase]
 * @property {string[]} [places] Where of these: `comment`, `string`, `markdown` or `heading`. All of them by default.
 * @property {RegExp} [files] The files in which the row holds. All of them by default.
 * @property {{ text?: string, files?: RegExp, reason: string }[]} [except] What is right nevertheless: the occurrence is
 *   a part of what `text` matches, in one of `files`.
 */

const everywhere = (word, pattern, use, except) => ({ word, use, names: pattern, prose: pattern, except });

const inChangesets = { files: /^\.changeset\//, reason: 'Names of the last release.' };

const faultFiles = /fault|(?:^|\/)(?:test|testing)\//i;

/** @type {Row[]} */
export const glossary = [
  everywhere('face', 'faces?', 'protocol', [inChangesets]),
  everywhere('exchange', '(?:on )?exchang(?:es?|ed|ing)', 'request record, onResponse, request'),
  everywhere('tell', 'tells?|told|telling', 'report, emit, log'),
  everywhere('hears of', 'hears? of|heard of', 'is notified of'),
  everywhere(
    'nobody',
    'nobody|anybody|somebody|everybody|whoever|whom|whomever',
    'unauthenticated, anonymous, client, caller',
  ),
  { word: 'he', use: 'client, caller, you', prose: 'he|him|his|himself|she' },
  everywhere('refuse', 'refus(?:es?|ed|als?|ing)', 'reject, rejection', [inChangesets]),
  everywhere('anew', 'anew', 'again'),
  everywhere('mend', 'mend(?:s|ed|ing)?', 'fix'),
  everywhere('thereby', 'thereby', 'so'),
  everywhere('some that', 'some that', 'those that'),
  everywhere('heed', 'heed(?:s|ed|ing)?', 'respect, honour, read'),
  everywhere('Awaitable', 'awaitable', 'MaybePromise', [inChangesets]),
  everywhere('in words', 'in words', 'format'),
  everywhere('spell', 'spells?|spelled|spelt', 'print'),
  { word: 'is none', use: 'invalid', prose: '(?:that|which) is none|is none of' },
  { word: 'what comes of', use: 'result', prose: 'what comes of' },
  { word: 'goes on with', use: 'continues', prose: 'goes? on with|went on with' },

  { word: 'asked', use: 'request, send, call', names: 'ask(?:s|ed|ing)?', prose: 'asked|asks' },
  {
    word: 'answer',
    use: 'response',
    names: 'answer(?:s|ed|ing)?',
    // The verb is right, as in "answers with 404". The noun is known by what stands around it.
    prose: [
      '(?:the|its|no|these|those|same|first|last|of|without|all|many|their|your|own|other|whose) answers?',
      '(?:successful|streamed|REST|right|wrong|empty|early|late|large|small|long|lost|stored|cached) answers?',
      '(?:an|every|each|this|one|whole|such|such an|another|any) answer',
      '(?:that|which) answer (?:is|was|has)',
      '(?:an?|the|its|every|each|no|one|any) [\\w`-]*[^s\\s] answer(?! (?:with|by|to|in))',
      "(?:\\w|`)+['’]s answers?",
      '(?:in|to|for|on|from|with|between|among) answers',
      'answers (?:are|were|have|of|whose|which)',
    ].join('|'),
  },
  {
    word: 'reply',
    use: 'ResponseControls, response',
    names: 'repl(?:y|ies)',
    except: [
      inChangesets,
      { text: 'FastifyReply', reason: "Fastify's type." },
      {
        text: 'reply(?:\\.raw)?',
        files:
          /^apps\/examples\/src\/adapters\/fastify\.ts$|^packages\/bench\/src\/contenders\/fastify\.ts$|^packages\/gateway\/test\/node\/mounted\.test\.ts$|^docs\/mounting\.md$/,
        reason: "The second parameter of Fastify's handlers.",
      },
    ],
  },
  {
    word: 'wire',
    use: "the protocol's name, wire format",
    names: 'wires?',
    prose: 'wire',
    except: [
      { text: 'wire (?:formats?|protocols?)', reason: 'The bytes are the wire format.' },
      { text: '(?:min|max)WireVersion', reason: "Fields of MongoDB's hello." },
    ],
  },
  {
    word: 'plain',
    use: 'delete: there is one path',
    names: 'plain',
    prose: 'plain',
    except: [
      {
        text: 'plain (?:text|objects?|HTTP|JSON|JavaScript|technical English)|text\\\\?/plain|\\w*PlainObject',
        reason: 'The usual terms.',
      },
      { files: /core\/src\/store\/collection\.ts$/, reason: 'A kind of index, as data folders store it.' },
    ],
  },
  {
    word: 'fast',
    use: 'delete: there is one path',
    names: 'fast',
    prose: 'fast (?:ways?|paths?)',
    except: [{ text: 'fast-check', reason: 'The package.' }],
  },
  {
    word: 'way',
    use: 'execution path, or delete it',
    names: 'ways?',
    prose: 'ways?',
    places: ['comment', 'markdown', 'heading'],
  },
  {
    word: 'fault',
    use: 'error',
    names: 'faults?',
    prose: 'faults?',
    except: [
      { files: faultFiles, reason: 'Injected faults of tests.' },
      { text: 'inject(?:s|ed|ing)? (?:a |the )?faults?|\\w*FaultProxy', reason: 'Injected faults of tests.' },
      {
        files: /(?:safeRetryLink|clientRetries|exactlyOnce)\.test\.ts$/,
        reason: 'A server in front of the service injects them.',
      },
      {
        text: 'faults',
        files: /^(?:docs\/mongodb-store|CONTRIBUTING)\.md$/,
        reason: 'A script that injects faults.',
      },
      inChangesets,
    ],
  },
  { word: 'who', use: 'client, server, caller', prose: 'who', places: ['comment', 'string', 'markdown'] },
  {
    word: 'given, found',
    use: "the thing's own name",
    wholeName: 'given|found|made|said|say|fail|failed|failure',
    except: [
      { text: 'fail', files: /procedures\/jsonDepth\.test\.ts$/, reason: "vitest's `expect.fail`." },
      {
        text: 'made',
        files: /core\/src\/store\/embedded\/reservations\.ts$/,
        reason: 'A field of stored rows.',
      },
      {
        text: 'failure',
        files: /schemathesis(?:-\w+)?\.toml$/,
        reason: 'An option of Schemathesis.',
      },
    ],
  },
  {
    // A server adapter. In names it is what it is everywhere: the `Host` of a request, or a host's name.
    word: 'host',
    use: 'adapter',
    prose: 'hosts?',
    matchCase: true,
    files: /^packages\/gateway\/src\//,
    except: [
      {
        files: /\/(?:cors|origins|socketOrigins|sameSite|protectedResource|cookie)(?:\.test)?\.ts$/,
        reason: 'Hosts of origins and cookies.',
      },
      { files: /\/(?:requestHead|trpc\/request|protocols\/paths)\.ts$/, reason: 'The host of a target.' },
      { text: '"host"|different hosts', reason: 'The option, and the header.' },
    ],
  },
];
