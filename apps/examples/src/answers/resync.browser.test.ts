import { createServer, type ServerResponse } from 'node:http';
import { browserMissing, startBrowser } from '@petstore/testing/browser';
import { freePort } from '@petstore/testing/freePort';
import { expect, it, onTestFinished } from 'vitest';
import { answerPage } from './answerPage.ts';

const resync = 'retry: 10\nevent: resync\ndata: {"code":"RESYNC","data":{"lastEventId":"b-0"}}\nid: b-0\n\n';

/** What the server sends, by the `Last-Event-ID` of the request. */
type Streams = ReadonlyMap<string | undefined, string>;

/** An answer that begins, and whose log is then emptied. */
const emptied: Streams = new Map([
  [undefined, 'retry: 10\n\ndata: "one "\nid: a-1\n\ndata: "two "\nid: a-2\n\n'],
  ['a-2', resync],
  [
    'b-0',
    'data: "one "\nid: b-1\n\ndata: "two "\nid: b-2\n\ndata: "three"\nid: b-3\n\nevent: end\ndata:\n\n',
  ],
]);

/** An answer that begins, and is then no longer kept. */
const expired: Streams = new Map([...emptied, ['b-0', resync]]);

const respond = (response: ServerResponse, type: string, body = '') =>
  response.writeHead(200, { 'content-type': type }).end(body);

it.skipIf(browserMissing()).each([
  { when: 'the log was emptied', streams: emptied, shows: 'the new answer', text: 'one two three' },
  {
    when: 'the answer is no longer kept',
    streams: expired,
    shows: 'that',
    text: 'The answer is no longer kept.',
  },
])(
  'after a resync because $when, the page shows $shows, without the part of the answer that it had before',
  async ({ streams, text }) => {
    const server = createServer(({ headers, url }, response) => {
      if (url === '/') return respond(response, 'text/html', answerPage);
      const lastEventId = headers['last-event-id'];
      return respond(response, 'text/event-stream', streams.get(lastEventId?.toString()));
    });
    onTestFinished(() => void server.close());
    const port = await freePort();
    server.listen(port, '127.0.0.1');
    const browser = await startBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.getByLabel('Question').fill('Why?');
    await page.getByRole('button', { name: 'Ask' }).click();
    const shown = page.locator('output');
    // A text that also has the earlier part never becomes this one.
    await expect.poll(() => shown.textContent()).toBe(text);
  },
);
