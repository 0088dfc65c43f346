// SPDX-License-Identifier: Apache-2.0

// Command vcsim is govmomi's simulated vCenter on a port of the loopback, with TLS, until its standard input ends.
//
// It prints its address, and the file of the certificate to trust.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"

	"github.com/vmware/govmomi/simulator"
)

func main() {
	user := flag.String("username", "user", "who may log in")
	password := flag.String("password-file", "", "file of the password")
	flag.Parse()
	secret, err := os.ReadFile(*password)
	if err != nil {
		log.Fatal(err)
	}
	model := simulator.VPX()
	if err := model.Create(); err != nil {
		log.Fatal(err)
	}
	defer model.Remove()
	model.Service.TLS = new(tls.Config)
	model.Service.Listen = &url.URL{Host: "127.0.0.1:0", User: url.UserPassword(*user, string(secret))}
	server := model.Service.NewServer()
	defer server.Close()
	certificate, err := server.CertificateFile()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("https://%s\n%s\n", server.URL.Host, certificate)
	_, _ = io.Copy(io.Discard, os.Stdin)
}
