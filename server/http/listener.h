// SPDX-License-Identifier: Apache-2.0
// The listening socket, which the library does not give away: it is found by its port.
#ifndef SERVER_LISTENER_H
#define SERVER_LISTENER_H

// Lets nobody connect any more, and waits until who had connected was accepted, for five seconds at
// most. To shut the socket before would cut them off, whatever they have sent.
void listener_empty(unsigned port);

// Shuts the socket and puts another descriptor in its place, unless that is -1.
void listener_shut(unsigned port, int in_its_place);

#endif
