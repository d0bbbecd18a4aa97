import { useChat } from '@ai-sdk/react';
import { createTRPCClient, httpSubscriptionLink } from '@trpc/client';
import type { SubmitEvent } from 'react';
import { createRoot } from 'react-dom/client';
import type { AnswersRouter } from '../router.ts';
import { ResumableChatTransport } from './transport.ts';

const client = createTRPCClient<AnswersRouter>({ links: [httpSubscriptionLink({ url: '/trpc' })] });
const transport = new ResumableChatTransport(client, sessionStorage);
const id = 'chat';
const begun = transport.messagesOf(id);

function Chat() {
  const { error, messages, sendMessage, status } = useChat({
    id,
    messages: begun,
    resume: begun.length > 0,
    transport,
  });

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const question = new FormData(event.currentTarget).get('question');
    if (typeof question === 'string') void sendMessage({ text: question });
  }

  return (
    <>
      {messages.map(({ id: messageId, parts, role }) => (
        <p key={messageId} data-role={role}>
          {parts.map((part) => (part.type === 'text' ? part.text : ''))}
        </p>
      ))}
      <p role="status">{error?.message ?? status}</p>
      <form onSubmit={submit}>
        <label>
          Question <input name="question" required />
        </label>
        <button>Ask</button>
      </form>
    </>
  );
}

const main = document.querySelector('main');
if (main) createRoot(main).render(<Chat />);
